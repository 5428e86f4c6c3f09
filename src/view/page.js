"use strict";
// Keys, search, the time slider, and what others do meanwhile. Every page works without this script.
document.documentElement.classList.add("scripted");
const main = () => document.getElementById("main");
const search = document.getElementById("search");
const workspace = document.body.dataset.workspace;

const frame = document.querySelector(".map-frame"), here = frame?.querySelector("[aria-current]");
if (here) frame.scrollLeft += here.getBoundingClientRect().left - frame.getBoundingClientRect().left - frame.clientWidth / 2 + 50;

/** Loads a page; returns its document, or nothing if it cannot be shown. */
async function load(path) {
  const answer = await fetch(path, { headers: { Accept: "text/html" } });
  return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
}

// The number of an action goes through its door; a slash leads to the search.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && search) {
    event.preventDefault(); search.focus();
  } else if (/^[1-9]$/.test(event.key)) {
    const action = document.querySelector(`[data-number="${event.key}"]`);
    if (action) { action.focus(); action.click(); }
  }
});

// Search while you type; an empty field brings the page back.
let before = null, waiting, searches = 0;
search?.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    const words = search.value.trim(), turn = ++searches;
    before ??= main();
    if (!words) { main().replaceWith(before); before = null; return; }
    const [path, query] = search.dataset.search.split("?");
    const page = await load(`${path}?${query.replace(/(^|&)q=/, `$1q=${encodeURIComponent(words)}`)}`);
    const found = page?.getElementById("main");
    if (found && turn === searches) main().replaceWith(found);
  }, 150);
});

// The slider over the commits.
const time = document.getElementById("time");
if (time) {
  const commits = time.dataset.commits.split(",").map((it) => it.split(":"));
  const moment = document.getElementById("moment");
  const isLast = () => Number(time.value) === commits.length - 1;
  const label = () => {
    const text = isLast() ? "present" : new Date(commits[time.value][1] * 1000).toLocaleString();
    moment.textContent = text;
    time.setAttribute("aria-valuetext", text);
  };
  time.addEventListener("input", label);
  time.addEventListener("change", () => {
    const place = new URL(location.href);
    if (isLast()) place.searchParams.delete("at");
    else place.searchParams.set("at", commits[time.value][0]);
    location.assign(place);
  });
}

// What others do meanwhile, in the present only.
const live = document.getElementById("live");
function say(text, path) {
  const line = document.createElement("span");
  const link = line.appendChild(document.createElement("a"));
  link.textContent = text;
  if (path) link.href = path;
  live.prepend(line);
  while (live.children.length > 3) live.lastChild.remove();
}
async function refresh(changed) {
  const page = await load(location.href);
  if (!page || search?.value) return;
  const details = () => [...document.querySelectorAll("main details")];
  const name = (it) => it.id || it.querySelector("summary").textContent;
  const open = new Set(details().filter((it) => it.open).map(name)), top = scrollY;
  main().replaceWith(page.getElementById("main"));
  details().forEach((it) => { it.open = open.has(name(it)); });
  scrollTo(0, top);
  for (const room of document.querySelectorAll("[data-room]")) {
    const id = room.dataset.room;
    const isHere = (it) => it === `rooms/${id}.yaml` || it.startsWith(`scrolls/${id}/`);
    if (changed.some(isHere)) room.classList.add("changed");
  }
}

if (document.body.hasAttribute("data-live") && workspace && window.EventSource) {
  const events = new EventSource(`/events?workspace=${encodeURIComponent(workspace)}`);
  let lost = false;
  events.onmessage = ({ data }) => {
    const { commit, by, subject, changed } = JSON.parse(data);
    say(`${by}: ${subject}, just now`, commit && `/${encodeURIComponent(workspace)}/commits/${commit}`);
    refresh(changed ?? []);
  };
  events.onerror = () => { if (!lost) say("The connection is lost; this page may be old."); lost = true; };
  events.onopen = () => { if (lost) say("Connected again."); lost = false; };
}
