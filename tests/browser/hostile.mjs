// Opens every page of a palace that is full of attacks, on a narrow screen, and follows its links.

import assert from "node:assert/strict";
import { assertFits, crawl, end, openPalace, story, origin } from "./palace.mjs";

const opened = await openPalace({ viewport: { width: 360, height: 780 } });
const { page } = opened;
const isHarmed = () => page.evaluate(() => [window.harmed, document.querySelectorAll("img, iframe, script:not([src]), main style").length]);
const count = await crawl(page, "/survey", async (path) => {
  await page.$$eval("details", (all) => all.forEach((it) => { it.open = true; }));
  await assertFits(page);
  assert.deepEqual(await isHarmed(), [undefined, 0], path);
  const links = await page.$$eval("a[href]", (all) => all.map((it) => it.href.baseVal ?? it.getAttribute("href")));
  for (const it of links) assert.match(it, /^(\/|#|https?:|mailto:)/);
});
assert.ok(count > story.least, `${count} pages`);

// Search while typing, with words that are an attack.
await page.goto(`${origin}/survey`);
await page.locator("#search").fill("<img src=x onerror=harmed=1>");
await page.getByRole("heading", { name: "Search" }).waitFor();
assert.deepEqual(await isHarmed(), [undefined, 0]);

// The whole palace as one file.
await page.goto(story.file);
assert.deepEqual(await isHarmed(), [undefined, 0]);
for (const id of await page.$$eval(".page", (all) => all.map((it) => it.id))) {
  await page.goto(`${story.file}#${id}`);
  await assertFits(page);
}
await end(opened);
