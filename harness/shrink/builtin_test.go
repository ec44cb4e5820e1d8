package shrink

import _ "recount/targets/builtin" // the tests run targets by name
