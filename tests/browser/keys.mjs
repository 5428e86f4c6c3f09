// Walks through every room with the number keys alone; then with Tab and Enter; then searches.

import assert from "node:assert/strict";
import { end, heading, openPalace, story } from "./palace.mjs";

const opened = await openPalace();
const { page } = opened;
const room = () => decodeURIComponent(new URL(page.url()).pathname).split("/rooms/")[1] ?? "great-hall";

/** Returns the doors of the room: the number of each, and the room behind it. */
const doors = () => page.$$eval("a[data-number]", (all) => all.map((it) => [
  it.dataset.number, it.getAttribute("href")?.split("/rooms/")[1],
]).filter(([number, to]) => number.length === 1 && to));

const known = new Map();
/** Returns the first door on the shortest way to a room that is not visited. */
function nextDoor(from) {
  const ways = known.get(from).map(([number, to]) => [number, to]);
  const seen = new Set([from]);
  for (const [number, to] of ways) {
    if (story.rooms.includes(to) && !known.has(to)) return [number, to, to];
    if (!seen.has(to) && known.has(to)) ways.push(...known.get(to).map(([, next]) => [number, next]));
    seen.add(to);
  }
  return null;
}

for (let at = room(); ; at = room()) {
  known.set(at, await doors());
  const door = nextDoor(at);
  if (!door) break;
  const left = page.waitForURL((it) => !it.pathname.endsWith(`/${at}`) && it.pathname.includes("/rooms/"));
  await page.keyboard.press(door[0]);
  await left;
  assert.equal(known.get(at).find(([number]) => number === door[0])[1], room());
}
assert.deepEqual([...known.keys()].sort(), story.rooms.sort());

// The number of a text opens it.
await page.goto(new URL("/survey", page.url()).href);
await page.keyboard.press("8");
assert.ok(await page.locator("details[open]", { hasText: "The cases in this house" }).isVisible());

/** Presses Tab until the focus is on a link with these words; the focus must be visible. */
async function tabTo(words) {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    const [text, outline] = await page.evaluate(() => {
      const it = document.activeElement;
      return [it.textContent, getComputedStyle(it).outlineStyle];
    });
    if (text.includes(words)) { assert.equal(outline, "solid", words); return; }
  }
  assert.fail(`the focus never comes to: ${words}`);
}
await page.reload();
await page.keyboard.press("Tab");
assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
await page.keyboard.press("Enter");
await tabTo("Climb to the Observatory of Science");
await page.keyboard.press("Enter");
await page.waitForURL("**/rooms/observatory-of-science");

// Search: the results come while the words are typed, and an empty field brings the room back.
await page.keyboard.press("/");
await page.keyboard.type("kumara");
await page.getByRole("link", { name: "How the sweet potato crossed" }).waitFor();
for (let letters = 0; letters < 6; letters++) await page.keyboard.press("Backspace");
await page.getByRole("heading", { name: "Observatory of Science" }).waitFor();
await page.keyboard.type("kumara");
await page.getByRole("link", { name: "How the sweet potato crossed" }).waitFor();
await tabTo("How the sweet potato crossed");
await page.keyboard.press("Enter");
await page.waitForURL("**/entities/**");
assert.equal(await heading(page), "How the sweet potato crossed");
await end(opened);
