"""Transcripts: whole, compressed, and readable even when the writer was killed."""

from pathlib import Path

import pytest

from bot.sandbox.redact import Redactor
from bot.work.agents.transcript import Transcript, read_records


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    with Transcript(tmp_path / name) as transcript:
        transcript.write("note", text="odd: \u2028 \ud800 é\n")

    (record,) = read_records(tmp_path / name)
    assert record["text"] == "odd: \u2028 \ud800 é\n"


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_every_whole_record_is_there_after_a_crash(tmp_path: Path, name: str) -> None:
    transcript = Transcript(tmp_path / name)
    transcript.write("note", number=1)
    transcript.write("note", number=2)
    raw = (tmp_path / name).read_bytes()  # never closed
    (tmp_path / "copy").write_bytes(raw[:-3] if name.endswith(".jsonl") else raw)

    numbers = [record["number"] for record in read_records(tmp_path / "copy")]
    transcript.close()
    assert numbers == ([1] if name.endswith(".jsonl") else [1, 2])


def test_a_secret_never_reaches_the_file(tmp_path: Path) -> None:
    with Transcript(tmp_path / "run.jsonl", redact=Redactor(["hunter2-hunter2"]).data) as transcript:
        transcript.write("note", text="the password is hunter2-hunter2", in_list=[{"x": "-----BEGIN PRIVATE KEY-----"}])

    (record,) = read_records(tmp_path / "run.jsonl")
    assert (record["text"], record["in_list"]) == ("the password is [redacted]", [{"x": "[redacted]"}])


def test_what_is_no_transcript_is_named(tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"type": "note"}\nnot json\n{}\n')
    with pytest.raises(ValueError) as raised:
        list(read_records(tmp_path / "x"))

    assert str(raised.value) == "x: line 2: expected JSON, got 'not json'"
