"""What the supervisor prints is readable, harmless, and never holds the hub up."""

import os

from agora_web.cli.output import Output


def lines_of(write) -> list[str]:
    reader, writer = os.pipe()
    write(Output(writer))
    os.close(writer)
    with open(reader, encoding="utf-8", newline="\n") as pipe:
        return pipe.read().splitlines()


def test_known_noise_is_left_out_and_other_lines_are_not():
    def write(output):
        output.relay("valkey", "WARNING Memory overcommit must be enabled! Without it ...")
        output.relay("worker", "absolutely not recommended!")
        output.relay("worker", "a real warning")

    assert lines_of(write) == ["worker  | a real warning"]


def test_a_childs_line_cannot_steer_the_terminal():
    assert lines_of(lambda output: output.relay("web", "\x1b[2Jgone\rover\x9b1m")) == ["web     | .[2Jgone.over.1m"]


def test_only_a_terminal_gets_colours():
    reader, writer = os.openpty()
    Output(writer).relay("web", "hello")
    assert b"\x1b[36mweb     | \x1b[0mhello" in os.read(reader, 1024)
    assert lines_of(lambda output: output.relay("web", "hello")) == ["web     | hello"]


def test_a_reader_that_stalls_loses_lines_and_is_told_how_many():
    reader, writer = os.pipe()
    output = Output(writer)
    for _ in range(5000):
        output.relay("web", "x" * 100)
    assert output.lost > 0
    os.read(reader, 1 << 20)
    output.relay("web", "again")
    assert b"lines were lost: nobody read them in time" in os.read(reader, 1 << 20)


def test_a_reader_that_is_gone_does_not_end_the_hub():
    reader, writer = os.pipe()
    os.close(reader)
    Output(writer).say("nobody hears this")
