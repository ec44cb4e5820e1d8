#!/usr/bin/env escript
%% A program that the tests skew: it waits in each way that Erlang has.
main(_) ->
    io:format("0 0~n"),
    serve().

serve() ->
    case io:get_line("") of
        eof -> ok;
        Line ->
            [How, Milliseconds] = string:lexemes(string:trim(Line), " "),
            wait(How, list_to_integer(Milliseconds)),
            io:format("0 0~n"),
            serve()
    end.

wait("sleep", T) -> timer:sleep(T);
wait("condition", T) -> receive never -> ok after T -> ok end;
wait("timer", T) -> erlang:send_after(T, self(), done), receive done -> ok end.
