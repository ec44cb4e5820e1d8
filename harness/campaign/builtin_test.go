package campaign

import _ "recount/targets/builtin"
