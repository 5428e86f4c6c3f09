// Watches two pages while an agent works; the test says on standard input when it has worked.

import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { address, end, openPalace } from "./palace.mjs";

const opened = await openPalace();
const { context, page } = opened;
const hall = page, map = await context.newPage();
for (const [it, path] of [[hall, "/rooms/hall-of-geology"], [map, "/map"]]) {
  const stream = it.waitForResponse((answer) => answer.url().includes("/events?"));
  await it.goto(address(path));
  await stream;
}
const input = createInterface({ input: process.stdin }), orders = input[Symbol.asyncIterator]();
/** Tells the test that the pages are ready, and waits until the agent has worked. */
async function whenDone(work) {
  console.log(work);
  await orders.next();
}
const soon = { timeout: 1_000 };
await hall.locator("summary", { hasText: "In a walk" }).click();
await whenDone("write a scroll");
await hall.locator("#live a", { hasText: "claude-code: scroll hall-of-geology: On the tide" }).waitFor(soon);
await hall.locator(".scrolls summary", { hasText: "On the tide" }).waitFor(soon);
for (const it of [hall, map]) await it.locator(".map .changed[data-room=hall-of-geology]").waitFor(soon);
assert.ok(await hall.locator("details.terminal[open]").isVisible(), "what was open stays open");

await whenDone("build a room");
for (const it of [hall, map]) {
  await it.locator("#live a", { hasText: "claude-code: room tide-room: build" }).waitFor(soon);
  await it.locator(".map .changed[data-room=tide-room]", { hasText: "Tide Room" }).waitFor(soon);
  await it.locator(".map .changed[data-room=hall-of-geology]").waitFor(soon);
}
// The line leads to the change.
await map.locator("#live a", { hasText: "tide-room" }).click();
await map.getByText("How to revert it").waitFor();
input.close();
await end(opened);
