"use strict";
// Keys, search, the time slider, and what others do meanwhile. Every page works without this script.
document.documentElement.classList.add("scripted");
const main = () => document.getElementById("main"), search = document.getElementById("search");
/** Loads a page; returns its document, or nothing if it cannot be shown. */
async function load(path) {
  const answer = await fetch(path, { headers: { Accept: "text/html" } }).catch(() => null);
  return answer?.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
}
// The number of an action goes through its door; a slash leads to the search.
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input:not([type=range])") || event.ctrlKey || event.metaKey || event.altKey) return;
  const action = /^[1-9]$/.test(event.key) && document.querySelector(`[data-number="${event.key}"]`);
  if (event.key === "/" && search) { event.preventDefault(); search.focus(); }
  if (action) { action.focus(); action.click(); }
});

// Search while you type; an empty field brings the page back.
let before = null, waiting, searches = 0, refreshes = 0;
search?.addEventListener("input", () => {
  clearTimeout(waiting); waiting = setTimeout(async () => {
    const words = search.value.trim(), turn = ++searches;
    if (!words) { if (before) main().replaceWith(before); before = null; mark(); return; }
    const path = new URL(search.dataset.search, location.href);
    path.searchParams.set("q", words);
    const found = (await load(path))?.getElementById("main");
    if (!found || turn !== searches) return;
    before ??= main();
    main().replaceWith(found);
  }, 150);
});

// The slider over the commits; several steps with the keys are one.
const commitOf = (time) => time.dataset.commits.split(",").slice(0, -1)[time.value]?.split(":");
document.addEventListener("input", ({ target: time }) => {
  if (time.id !== "time") return;
  const at = commitOf(time)?.[1];
  const text = at ? new Date(at * 1000).toISOString().slice(0, 16).replace("T", " ") + " UTC" : "present";
  time.ariaValueText = document.getElementById("moment").textContent = text;
});
document.addEventListener("change", ({ target: time }) => {
  if (time.id !== "time") return;
  const place = new URL(location.href), commit = commitOf(time)?.[0];
  if (commit) place.searchParams.set("at", commit); else place.searchParams.delete("at");
  clearTimeout(waiting); waiting = setTimeout(() => location.assign(place), 250);
});

// What others do meanwhile, in the present only.
const live = document.getElementById("live"), changes = [];
function say(text, path) {
  live.prepend(Object.assign(document.createElement("a"), { textContent: text }, path && { href: path }));
  while (live.children.length > 3) live.lastChild.remove();
}
/** Marks the rooms that changed, and shows the current one on the map. */
function mark() {
  for (const room of document.querySelectorAll("[data-room]")) {
    const places = [`rooms/${room.dataset.room}.yaml`, `scrolls/${room.dataset.room}/`];
    room.classList.toggle("changed", changes.some((file) => places.some((it) => file.startsWith(it))));
  }
  const frame = document.querySelector(".map-frame"), here = frame?.querySelector("[aria-current]") ?? frame?.querySelector(".frame");
  const [box, room] = [frame, here].map((it) => it?.getBoundingClientRect());
  if (here) frame.scrollLeft += room.left + room.width / 2 - box.left - box.width / 2;
}
mark();
/** Shows the newer state of the page; what was open stays open. */
function show(fresh) {
  const all = (kind) => [...main().querySelectorAll(kind)];
  const name = (it) => it.id || it.querySelector("summary").textContent;
  const open = new Set(all("details[open]").map(name)), top = scrollY, focused = document.activeElement;
  main().replaceWith(fresh);
  all("details").forEach((it) => { it.open = open.has(name(it)); });
  const isSame = (it) => it.tagName === focused.tagName && it.textContent === focused.textContent;
  if (!focused.isConnected) all("a, summary").find(isSame)?.focus({ preventScroll: true });
  mark();
  scrollTo(0, top);
}
async function refresh(files) {
  changes.push(...files);
  const turn = ++refreshes, page = await load(location.href);
  if (turn !== refreshes || !page) return;
  for (const part of ["nav.palace ul", "nav.time"]) {
    const old = document.querySelector(part), fresh = page.querySelector(part);
    if (fresh && old && !old.contains(document.activeElement)) old.replaceWith(fresh);
  }
  if (before) before = page.getElementById("main"); else show(page.getElementById("main"));
}
if (document.body.hasAttribute("data-live")) {
  const workspace = encodeURIComponent(document.body.dataset.workspace), events = new EventSource(`/events?workspace=${workspace}`);
  // A page that the browser keeps for "back" holds no connection: there are few for each server.
  addEventListener("pagehide", () => events.close());
  addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });
  let lost = false;
  events.onmessage = ({ data }) => {
    const { commit, by, subject, changed } = JSON.parse(data);
    say(`${by}: ${subject}`, commit && `/${workspace}/commits/${commit}`);
    refresh(changed ?? []);
  };
  events.onerror = () => { if (!lost) say("The connection is lost; this page may be old."); lost = true; };
  events.onopen = () => { if (lost) { say("Connected again."); refresh([]); } lost = false; };
}
