// Shows the map as a client of MCP Apps does: in a frame without rights, over postMessage.

import assert from "node:assert/strict";
import { browser, end, openWindow, story } from "./palace.mjs";

const opened = await openWindow();
const { page } = opened;
await page.setContent("<iframe sandbox='allow-scripts' width=900 height=600></iframe>");
const frame = () => page.frames()[1];

/** Answers the view, and keeps what it asked for. */
await page.evaluate(() => {
  window.asked = [];
  const answers = {
    "ui/initialize": () => ({ protocolVersion: "2026-01-26", hostCapabilities: {}, hostContext: {} }),
    "resources/read": ({ uri }) => ({ contents: [{ uri, text: uri.startsWith("ui:") ? window.view : `# Room at ${uri}` }] }),
  };
  const view = document.querySelector("iframe");
  window.send = (method, params) => view.contentWindow.postMessage({ jsonrpc: "2.0", method, params }, "*");
  addEventListener("message", ({ data }) => {
    window.asked.push(data);
    const result = answers[data.method]?.(data.params);
    if (data.id) view.contentWindow.postMessage({ jsonrpc: "2.0", id: data.id, result }, "*");
  });
});
await page.evaluate((view) => { window.view = view; document.querySelector("iframe").srcdoc = view; }, story.view);
const asked = (method) => page.waitForFunction((it) => window.asked.some(({ method }) => method === it), method);
await asked("ui/notifications/initialized");
await asked("ui/notifications/size-changed");

// Action 0 shows the map; the view draws it again, because the palace may have changed.
await page.evaluate(() => window.send("ui/notifications/tool-input", { arguments: { action: 0 } }));
await page.evaluate(() => window.send("ui/notifications/tool-result", { content: [] }));
await page.waitForFunction(() => window.asked.some(({ params }) => params?.uri === "ui://palazzo/map"));
assert.ok(await frame().locator("[data-room=attic]").isVisible());

// A click reads the room, and asks for nothing else.
await frame().locator("[data-room=attic]").click();
await frame().getByText("# Room at palace://survey/rooms/attic").waitFor();
const methods = await page.evaluate(() => window.asked.map(({ method }) => method).filter(Boolean));
assert.ok(!methods.includes("tools/call"));

// Other actions have no use for a map.
await page.evaluate(() => window.send("ui/notifications/tool-input", { arguments: { action: 3 } }));
await frame().locator("body[hidden]").waitFor({ state: "attached" });
assert.equal(browser.contexts().length, 1);
await end(opened);
