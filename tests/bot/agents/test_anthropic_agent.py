"""Our own agent, the real SDK and the real tools, against a scripted model over HTTP."""

import psutil

from bot.work.agents.agent import Ending, Limits, Task
from bot.work.agents.transcript import read_records
from tests.bot.agents.conftest import Work

FIX = {"command": "str_replace", "path": "cart.py", "old_str": "total > 100", "new_str": "total >= 100"}


async def test_the_agent_reads_edits_and_closes_with_its_last_words(work: Work) -> None:
    result = await work.run(
        {"say": "I look.", "bash": "cat cart.py"}, {"edit": FIX}, {"say": "It counts from 100 now."}
    )

    assert (result.ending, result.message, (work.box.workdir / "cart.py").read_text()) == (
        Ending.FINISHED,
        "It counts from 100 now.",
        "def discount(total):\n    return total >= 100\n",
    )


async def test_people_see_what_the_agent_says_and_does(work: Work) -> None:
    await work.run({"say": "I look.", "bash": "cat cart.py"}, {"edit": FIX}, {"say": "Done."})

    assert work.lines == ["I look.", "$ cat cart.py", "str_replace cart.py", "Done."]


async def test_the_shell_keeps_its_folder_and_variables(work: Work) -> None:
    await work.run({"bash": "mkdir sub && cd sub && x=5"}, {"bash": "basename $PWD; echo $x"}, {"say": "Done."})

    assert work.answers(2) == ["sub\n5\n"]


async def test_a_command_that_fails_tells_its_exit_code(work: Work) -> None:
    await work.run({"bash": "echo no; (exit 3)"}, {"say": "Done."})

    assert work.answers(1) == ["no\n\n[exit code 3]"]


async def test_a_command_that_ends_the_shell_gets_a_new_one(work: Work) -> None:
    await work.run({"bash": ["exit 4", "echo again"]}, {"say": "Done."})

    assert work.answers(1) == ["\n[this ended the shell; the next command gets a new one]", "again\n"]


async def test_a_command_that_hangs_is_stopped(work: Work) -> None:
    await work.run({"bash": "echo before; sleep 60"}, {"say": "Done."}, limits=Limits(command_s=0.3))

    assert work.answers(1) == [
        "before\n\n[stopped after 0.3 s with everything it started; the next command gets a new shell]"
    ]


async def test_of_a_long_output_the_model_sees_both_ends(work: Work) -> None:
    await work.run({"bash": "echo first; head -c 300000 /dev/zero | tr '\\0' x; echo last"}, {"say": "Done."})

    (answer,) = work.answers(1)
    assert (answer[:8], answer[-6:], "[... 270,011 bytes left out ...]" in answer) == (
        "first\nxx",
        "xlast\n",
        True,
    )


async def test_the_gate_is_a_tool_where_there_is_one(work: Work) -> None:
    async def gate() -> str:
        return "RED: test failed"

    await work.run({"gate": True}, {"say": "Done."}, gate=gate)

    assert work.answers(1) == ["RED: test failed"]


async def test_the_transcript_is_a_session_as_it_is(work: Work) -> None:
    await work.run({"bash": "echo hi"}, {"say": "Done."})

    assert [record["type"] for record in read_records(work.transcript)] == [
        "start", "assistant", "user", "assistant", "end",
    ]  # fmt: skip


async def test_halves_of_characters_do_not_end_the_run(work: Work) -> None:
    (work.box.workdir / "cart.py").write_bytes(b"caf\xe9 = 1\n")
    half = {"command": "str_replace", "path": "cart.py", "old_str": "1", "new_str": "2 \ud83d"}
    task = Task("acme/shop", 7, "Half \ud83d", "Half \ud83d", conventions="Half \ud83d")
    result = await work.run({"say": "Half \ud83d", "edit": half}, {"say": "Done."}, task=task)

    assert (result.ending, work.answers(1)) == (
        Ending.FINISHED,
        ["Changed cart.py:\n     1\tcaf? = 2 ?\n     2\t"],
    )


async def test_100_megabytes_of_output_do_not_grow_memory(work: Work) -> None:
    await work.run({"bash": "true"}, {"say": "Done."})  # what is loaded once is loaded
    before = psutil.Process().memory_info().rss
    await work.run({"bash": "head -c 100000000 /dev/zero | tr '\\0' x"}, {"say": "Done."})

    assert psutil.Process().memory_info().rss - before < 20_000_000
