// Opens a palace that is one file, without script.

import assert from "node:assert/strict";
import { assertFits, end, openWindow, story } from "./palace.mjs";

const opened = await openWindow({ javaScriptEnabled: false });
const { page } = opened;
await page.goto(story.file);
const sections = () => page.locator(".page:visible > h2").allInnerTexts();
assert.deepEqual(await sections(), ["What changed"]);
assert.ok(await page.getByText("Hall of Deep Time").first().isVisible());

// Walks by clicks: from the change to the room, through a door, over the map, to an entity.
await page.locator(".changes a").first().click();
assert.deepEqual(await sections(), ["Hall of Deep Time"]);
await page.getByRole("link", { name: "Return to the Great Hall" }).click();
assert.deepEqual(await sections(), ["Great Hall"]);
await page.locator(".map [data-room=maritime-archives]").click();
assert.deepEqual(await sections(), ["Maritime Archives"]);
await page.getByRole("link", { name: "Index" }).click();
await page.locator("#index").getByRole("link", { name: "Continents drift" }).click();
assert.deepEqual(await sections(), ["Continents drift"]);

const [links, ids] = await Promise.all([
  page.$$eval("a[href^='#'], a[*|href^='#']", (all) => all.map((it) => it.getAttribute("href"))),
  page.$$eval("[id]", (all) => all.map((it) => it.id)),
]);
assert.ok(links.length > 100);
assert.deepEqual(links.filter((it) => !ids.includes(decodeURIComponent(it.slice(1)))), []);
for (const width of [360, 768, 1280, 2560]) {
  await page.setViewportSize({ width, height: 900 });
  await assertFits(page);
}

// On paper is everything, without the colours of the dark.
await page.emulateMedia({ media: "print", colorScheme: "dark" });
const printed = await page.locator(".page:visible").count();
assert.equal(printed, await page.locator(".page").count());
assert.ok(await page.getByText("The sweet potato comes from tropical America.").isVisible());
const light = (color) => color.match(/\d+/g).slice(0, 3).every((it) => Number(it) > 200);
const paper = await page.locator(".map .paper").evaluate((it) => getComputedStyle(it).fill);
assert.ok(light(paper), paper);
await end(opened);
