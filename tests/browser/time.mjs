// Moves the slider with the keys into the past and back.

import assert from "node:assert/strict";
import { address, end, heading, openPalace } from "./palace.mjs";

const opened = await openPalace();
const { page } = opened;
await page.goto(address("/rooms/hall-of-geology"));
assert.equal(await heading(page), "Hall of Deep Time");
assert.equal(await page.locator("#moment").innerText(), "present");

const slide = async (keys) => {
  await page.locator("#time").focus();
  for (const key of keys) await page.keyboard.press(key);
};
await slide(["ArrowLeft", "ArrowLeft"]);
await page.waitForURL(/at=/);
assert.match(await page.locator(".past").innerText(), /This is the palace as it was on 20 February 2026, 10:00 UTC/);
assert.equal(await heading(page), "Hall of Geology");
assert.equal(await page.locator("#moment").innerText(), "2026-02-20 10:00 UTC");
assert.equal(await page.locator("#time").inputValue(), "0");

// Doors lead through the same past, the banner to the present.
await page.keyboard.press("7");
await page.waitForURL(/rooms\/great-hall\?at=/);
assert.ok(await page.locator(".map", { hasText: "Hall of Geology" }).isVisible());
await page.getByRole("link", { name: "Back to the present" }).click();
assert.equal(await page.locator(".past").count(), 0);
assert.ok(await page.locator(".map", { hasText: "Hall of Deep Time" }).isVisible());

await slide(["ArrowLeft"]);
await page.waitForURL(/at=/);
await slide(["End"]);
await page.waitForURL((it) => !it.searchParams.has("at"));
assert.equal(await page.locator("#moment").innerText(), "present");
await end(opened);
