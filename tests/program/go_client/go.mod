module cleat.example/go_client

go 1.19
