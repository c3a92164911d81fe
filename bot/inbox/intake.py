"""Act on what was delivered: bytes, event, intent, effect; a delivery and all that comes of it are one transaction."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Sequence
from typing import assert_never

import sqlalchemy as sa

from bot import log
from bot.errors import UserError
from bot.forges.answers import Issue
from bot.forges.errors import ForgeError, Refused
from bot.forges.events import CommentEvent, Event, IssueEvent, LinkEvent, PullEvent, ReviewEvent, Unread
from bot.forges.github import GitHub
from bot.inbox import commands, effects, pulls
from bot.inbox.commands import Said
from bot.inbox.house import House
from bot.inbox.intent import (
    Again,
    CheckPull,
    ClosePull,
    FollowUp,
    Intent,
    Know,
    Nothing,
    Obey,
    Pushed,
    Relink,
    Rename,
    Rerun,
    Reword,
    Start,
    Stop,
)
from bot.inbox.reading import Read, Reader
from bot.inbox.scope import look_at_links, remember
from bot.inbox.trust import Breaker, People, Standing
from bot.inbox.turn import UNHEARD, Done, Effect, Ignored, Later, Linked, NeedsLook, Turn
from bot.tickets import deliveries, repositories
from bot.tickets.deliveries import Delivery
from bot.tickets.repository import RepositorySettings
from bot.tickets.store import Store
from bot.tickets.tickets import IllegalMove

LOG = log.logger("inbox")
PAGE = 200
AT_A_TIME = 8  # questions to the forge
REFUSALS = 5  # a forge that answers "no" this often means it
GIVE_UP_S = 3 * 86_400.0  # as long as the forge keeps deliveries


class Intake:
    """Turns stored deliveries into tickets.

    `told` wishes for a ticket's comment and labels after it changed; `acted` hears of each delivery of which something
    came, at once: what it asked for need not wait until those behind it were read.
    """

    def __init__(
        self,
        store: Store,
        forge: GitHub,
        *,
        label: str,
        now: Callable[[], float],
        told: Callable[[sa.Connection, int], None],
        checked: Callable[[sa.Connection, int], None] = lambda *_: None,
        acted: Callable[[], None] = lambda: None,
        floor: str = "write",
        allowed_bots: Collection[int] = (),
        app: int | None = None,
        breaker: Breaker | None = None,
        ask: Callable[[Said], None] | None = None,
    ) -> None:
        self._store, self._forge, self._now, self._told, self._checked = store, forge, now, told, checked
        self._label, self._floor, self._acted = label, floor, acted
        self._breaker = breaker or Breaker()
        self._ask = ask  # takes a question that is no command; without it, it is an unknown command
        self._people = People(forge, allowed_bots=allowed_bots, now=now)
        self.house = House(store, forge, now=now)
        self._reader = Reader(forge, self.house, label=label, app=app)

    async def process_new(self) -> int:
        """Act on every delivery that was not read yet, oldest first; return of how many something came."""
        done, after = 0, 0
        away: set[str] = set()  # repositories that the forge did not answer for: the next round asks again
        while page := await asyncio.to_thread(self._page, after):
            after = page[-1].seq
            asking = await asyncio.to_thread(self._put_away, [r for d in page if (r := await self._understood(d))])
            await self._ask_ahead(asking)
            for read in asking:
                if read.repository not in away and await self._one(read, away):
                    done += 1
                    self._acted()
        return done

    async def _ask_ahead(self, asking: Sequence[Read]) -> None:
        """Ask the forge about all senders at the same time; acting finds the answers remembered."""
        senders = {(r.repository, r.sender): r for r in asking}
        gate = asyncio.Semaphore(AT_A_TIME)

        async def ask(read: Read) -> None:
            async with gate:
                with contextlib.suppress(ForgeError):  # acting meets it again, and says so
                    await self._standing(read)

        await asyncio.gather(*(ask(read) for read in senders.values()))

    def _page(self, after: int) -> list[Delivery]:
        with self._store.read() as c:
            return deliveries.unread(c, after=after, limit=PAGE)

    async def _understood(self, delivery: Delivery) -> Read | None:
        """Read a delivery; None where that needs settings that cannot be had yet: it stays open."""
        try:
            return await self._reader.read(delivery)
        except ForgeError as error:
            await asyncio.to_thread(self._put_off, delivery, error)
            return None

    def _put_away(self, read: Sequence[Read]) -> list[Read]:
        """Close in one transaction what asks nothing; return the rest."""
        asking = [r for r in read if not isinstance(r.intent, Nothing)]
        if len(asking) < len(read):
            with self._store.write() as c:
                for r in read:
                    if isinstance(r.intent, Nothing):
                        deliveries.close(c, r.delivery, deliveries.IGNORED, r.intent.reason)
        return asking

    async def _one(self, read: Read, away: set[str]) -> int:
        """Act on one delivery; a fault of the forge leaves it open, a fault of ours closes it as failed."""
        try:
            standing, settings = await self._standing(read)
            if isinstance(read.intent, Know):
                self._forge.forget_grants()
            linked = await look_at_links(self._forge, read.event, read.intent)
            try:
                effect = await asyncio.to_thread(self._act, read, standing, settings, None, linked)
            except NeedsLook:
                seen = await self._look(read)
                effect = await asyncio.to_thread(self._act, read, standing, settings, seen, linked)
        except (ForgeError, IllegalMove, sa.exc.OperationalError) as error:
            if isinstance(error, ForgeError) and not isinstance(error, Refused):
                away.add(read.repository)
            await asyncio.to_thread(self._put_off, read.delivery, error)
            return 0
        except Exception:
            LOG.exception(
                "delivery not understood", extra={"guid": read.delivery.guid, "event_name": read.delivery.event}
            )
            await asyncio.to_thread(self._close, read.delivery, deliveries.FAILED, "a fault of ours; the log has it")
            return 0
        return int(isinstance(effect, Done))

    async def _standing(self, read: Read) -> tuple[Standing, RepositorySettings]:
        event = read.event
        if isinstance(event, Unread):
            raise TypeError("an unread event asks nothing")
        settings = self.house.known(event.origin.repository)
        floor = settings.floor or self._floor
        if isinstance(read.intent, Stop | Know | Rename | ClosePull | Pushed):
            return Standing(event.origin.sender, "", floor, may=False), settings  # the forge let them do it
        return await self._people.standing(event.origin.repository, event.origin.sender, floor), settings

    async def _look(self, read: Read) -> Issue:
        if isinstance(read.event, Unread):
            raise TypeError("an unread event is about no issue")
        number = _number(read.event)
        try:
            return await self._forge.issue(read.event.origin.repository, number)
        except Refused as refused:
            if refused.status not in (404, 410):
                raise
            return Issue(number, state="closed")  # it is gone

    def _act(
        self,
        read: Read,
        standing: Standing,
        settings: RepositorySettings,
        seen: Issue | None,
        linked: Linked | None,
    ) -> Effect:  # fmt: skip
        if isinstance(read.event, Unread):
            raise TypeError("an unread event asks nothing")
        with self._store.write() as c:
            if not deliveries.close(c, read.delivery, deliveries.DONE):
                return Ignored("another host was faster")
            if read.event.origin.installation is not None and read.repository:
                repositories.keep_installation(c, read.repository, read.event.origin.installation)
            turn = Turn(
                c=c, origin=read.event.origin, number=_number(read.event), standing=standing, settings=settings,
                label=settings.labels.trigger or self._label, breaker=self._breaker, now=self._now(), told=self._told,
                checked=self._checked, seen=seen, linked=linked,
            )  # fmt: skip
            if linked is not None:
                remember(turn, linked)
            effect = self._effect(turn, read.event, read.intent)
            match effect:
                case Later(reason):
                    deliveries.note(c, read.delivery, deliveries.WAITING, reason)
                case Ignored(reason):
                    deliveries.note(c, read.delivery, deliveries.IGNORED, reason)
                case Done(reason):
                    deliveries.note(c, read.delivery, deliveries.DONE, reason)
                case _:
                    assert_never(effect)
            return effect

    def _effect(self, turn: Turn, event: Event, intent: Intent) -> Effect:
        match event, intent:
            case IssueEvent(), Start():
                return effects.start(turn, event, intent)
            case IssueEvent(), Again():
                return effects.again(turn, event, intent)
            case IssueEvent(), Stop():
                return effects.stop(turn, event, intent)
            case LinkEvent(), Relink():
                return effects.relink(turn)
            case IssueEvent(), Reword():
                return effects.reword(turn, event, intent)
            case CommentEvent() | ReviewEvent(), Obey():
                return self._obey(turn, event, intent)
            case PullEvent(), CheckPull():
                return pulls.check_pull(turn, event, intent)
            case PullEvent(), Pushed():
                return pulls.pushed(turn, event, intent)
            case PullEvent(), ClosePull():
                return pulls.close_pull(turn, event, intent)
            case _:
                return _effect_without_event(turn, intent)

    def _obey(self, turn: Turn, event: CommentEvent | ReviewEvent, intent: Obey) -> Effect:
        """Run the commands of one comment; answer in one reply, and with a reaction."""
        if turn.standing.actor.is_bot and not turn.standing.may:
            return Ignored(turn.standing.why_not())
        if turn.answers_left() == 0:  # whatever they say, all that could come of it is an answer
            return Ignored(UNHEARD)
        on_issue = isinstance(event, CommentEvent) and not event.is_on_pull
        answers, failed = [], False
        for call in intent.calls:
            said = Said(turn, call, *((event.title, event.body) if on_issue else ()))  # type: ignore[union-attr]
            if self._ask is not None and call.by_name and commands.find(call.name) is None and call.name:
                self._ask(said)
                continue
            try:
                answers.append(commands.obey(said))
            except UserError as error:
                failed = True
                answers.append(str(error))
        reaction = "confused" if failed else "+1"
        if isinstance(event, CommentEvent):
            turn.react(event.comment, reaction)
        elif event.path:  # a review as a whole takes no reaction
            turn.react(event.review, reaction, on_line=True)
        text = "\n\n".join(answer for answer in answers if answer)
        if text:
            turn.reply(_reply_key(event), text)
        return Done(", ".join(call.name for call in intent.calls))

    def _put_off(self, delivery: Delivery, error: Exception) -> None:
        refused = isinstance(error, Refused) and delivery.tries + 1 >= REFUSALS
        late = self._now() - delivery.received_at > GIVE_UP_S
        LOG.warning("delivery put off", extra={"guid": delivery.guid, "error": str(error), "tries": delivery.tries + 1})
        if refused or late:
            self._close(delivery, deliveries.FAILED, str(error))
            return
        with self._store.write() as c:
            deliveries.count_try(c, delivery, str(error))

    def _close(self, delivery: Delivery, state: str, reason: str) -> None:
        with self._store.write() as c:
            deliveries.close(c, delivery, state, reason)


def _effect_without_event(turn: Turn, intent: Intent) -> Effect:
    match intent:
        case FollowUp():
            return pulls.follow_up(turn, intent)
        case Rerun():
            return pulls.rerun(turn, intent)
        case Know():
            return effects.know(turn, intent)
        case Rename():
            return effects.rename(turn, intent)
        case _:
            raise TypeError(f"no event of this kind asks for {type(intent).__name__}")


def _number(event: Event) -> int:
    return event.number if isinstance(event, IssueEvent | LinkEvent | CommentEvent | PullEvent | ReviewEvent) else 0


def _reply_key(event: CommentEvent | ReviewEvent) -> str:
    return f"comment:{event.comment}" if isinstance(event, CommentEvent) else f"review:{event.review}"
