"use strict";
// Speaks with the client that shows this view: JSON-RPC by postMessage (MCP Apps 2026-01-26).
const waiting = new Map();
let count = 0;
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const notify = (method, params = {}) => send({ method, params });
const request = (method, params) => new Promise((resolve, reject) => {
  count += 1;
  waiting.set(count, { resolve, reject });
  send({ id: count, method, params });
});

const room = document.getElementById("room"), map = document.getElementById("map");
const resize = () => notify("ui/notifications/size-changed", { height: document.documentElement.scrollHeight });
const read = async (uri) => (await request("resources/read", { uri })).contents[0].text;

/** Shows a room below the map. */
async function show(link) {
  try {
    room.textContent = await read(link.getAttribute("href"));
    map.querySelector("[aria-current]")?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
  } catch {
    room.textContent = "This client does not let the map read rooms.";
  }
  resize();
}

/** Draws the map again: the palace and the place of the visitor may have changed. */
async function refresh() {
  try {
    const page = new DOMParser().parseFromString(await read("ui://palazzo/map"), "text/html");
    map.replaceChildren(...page.getElementById("map").childNodes);
  } catch {
    // The map stays as it was when the view was opened.
  }
  resize();
}

const handlers = {
  // Other actions than 0 have no use for a map.
  "ui/notifications/tool-input": ({ arguments: given }) => { document.body.hidden = Number(given?.action) !== 0; },
  "ui/notifications/tool-result": () => (document.body.hidden ? resize() : refresh()),
};

addEventListener("message", ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== "2.0") return;
  const answered = waiting.get(data.id);
  if (answered && !data.method) {
    waiting.delete(data.id);
    if (data.error) answered.reject(data.error);
    else answered.resolve(data.result);
  } else if (data.method && data.id !== undefined) {
    send({ id: data.id, result: {} });
  } else {
    handlers[data.method]?.(data.params ?? {});
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link) return;
  event.preventDefault();
  show(link);
});

request("ui/initialize", {
  appInfo: { name: "palazzo-map", version: "1" },
  appCapabilities: {},
  protocolVersion: "2026-01-26",
}).then(() => { notify("ui/notifications/initialized"); resize(); });
