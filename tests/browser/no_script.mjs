// Uses the palace without script: walks, opens texts, sees the past, finds an entity.

import assert from "node:assert/strict";
import { end, heading, openPalace } from "./palace.mjs";

const opened = await openPalace({ javaScriptEnabled: false });
const { page } = opened;
const follow = (name) => page.getByRole("link", { name }).first().click();

await follow("Follow the smell of tar to the Maritime Archives");
assert.equal(await heading(page), "Maritime Archives");
await page.locator(".map [data-room=great-hall]").click();
assert.equal(await heading(page), "Great Hall");
await page.getByText("Read the slate beside the doors").click();
assert.ok(await page.getByText("The cases in this house hold three kinds of thing").isVisible());

// The past.
assert.ok(await page.locator("[data-room=hall-of-geology]", { hasText: "Hall of Deep Time" }).isVisible());
assert.ok(!await page.locator("#time").isVisible());
await follow("← older");
assert.match(await page.locator(".past").innerText(), /This is the palace as it was on 28 February 2026, 09:12 UTC/);
await follow("← older");
assert.match(await page.locator(".past").innerText(), /20 February 2026/);
assert.ok(await page.locator("[data-room=hall-of-geology]", { hasText: "Hall of Geology" }).isVisible());
await follow("Enter the Hall of Geology");
assert.equal(await heading(page), "Hall of Geology");
await follow("newer →");
await follow("present");
assert.equal(await heading(page), "Hall of Deep Time");
assert.equal(await page.locator(".past").count(), 0);

// The search field needs script; its page names the index and an address that searches.
assert.ok(!await page.locator("#search").isVisible());
await follow("Search");
const hint = await page.locator("main code").innerText();
await page.goto(new URL(hint.replace("words", "kumara"), page.url()).href);
await follow("How the sweet potato crossed");
assert.equal(await heading(page), "How the sweet potato crossed");
await follow("Index");
await follow("Claim");
await follow("Continents drift");
assert.equal(await heading(page), "Continents drift");
await end(opened);
