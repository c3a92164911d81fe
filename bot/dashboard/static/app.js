// Keep the page up to date with server-sent events; without scripts it shows what was true when it was loaded.
"use strict";
const table = document.querySelector("#tickets");
const log = document.querySelector("#log");

if (table) {
  const live = document.querySelector("#live");
  const source = new EventSource(table.dataset.events);
  source.onopen = () => { live.textContent = "Live"; };
  source.onerror = () => { live.textContent = "Connection lost; trying again"; };
  source.addEventListener("row", (event) => {
    const holder = document.createElement("tbody");
    holder.innerHTML = JSON.parse(event.data).html; // rendered and escaped by the server
    const row = holder.firstElementChild;
    const body = table.tBodies[0];
    body.querySelector(".empty")?.remove();
    const old = document.getElementById(row.id);
    if (old) { old.replaceWith(row); } else { body.prepend(row); }
  });
}

if (log) {
  const source = new EventSource(`${log.dataset.events}&after=${log.dataset.last}`);
  source.addEventListener("lines", (event) => {
    const follow = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
    for (const line of JSON.parse(event.data)) {
      const stage = document.createElement("span");
      stage.className = "quiet";
      stage.textContent = line.stage;
      log.append(stage, ` ${line.line}\n`);
    }
    if (follow) { log.scrollTop = log.scrollHeight; }
  });
  source.addEventListener("state", (event) => {
    const row = JSON.parse(event.data);
    const state = document.querySelector("#state");
    if (row.done && !state.dataset.done) { location.reload(); return; } // the report and the table are there now
    state.textContent = row.state_words;
    state.className = `state ${row.tone}`;
    document.querySelector("#reason").textContent = row.reason;
  });
}
