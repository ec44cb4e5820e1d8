module recount/examples/river/candidate

go 1.21

require (
	github.com/jackc/pgx/v5 v5.5.3
	github.com/riverqueue/river v0.0.20
	github.com/riverqueue/river/riverdriver/riverpgxv5 v0.0.20
)

require (
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20221227161230-091c0ba34f0a // indirect
	github.com/jackc/puddle/v2 v2.2.1 // indirect
	github.com/oklog/ulid/v2 v2.1.0 // indirect
	github.com/riverqueue/river/riverdriver v0.0.20 // indirect
	golang.org/x/crypto v0.17.0 // indirect
	golang.org/x/exp v0.0.0-20230522175609-2e198f4a06a1 // indirect
	golang.org/x/sync v0.6.0 // indirect
	golang.org/x/text v0.14.0 // indirect
)
