// Opens every page that the links of the palace lead to; one of each kind in four widths.

import assert from "node:assert/strict";
import { address, assertFits, crawl, end, heading, kinds, openPalace, story } from "./palace.mjs";

const opened = await openPalace({ viewport: { width: 360, height: 780 } });
const { page, problems } = opened;
const count = await crawl(page, "/survey", () => assertFits(page));
assert.ok(count > 60, `${count} pages`);

for (const width of [360, 768, 1280, 2560]) {
  await page.setViewportSize({ width, height: 900 });
  for (const path of kinds(story.commit)) {
    const answer = await page.goto(address(path));
    assert.equal(answer.status(), 200, path);
    await assertFits(page);
  }
}

// The browser itself reports that there is no such page.
assert.deepEqual(problems, []);
const answer = await page.goto(address("/rooms/no/such/Room!"));
assert.deepEqual([answer.status(), await heading(page)], [404, "Not Found"]);
await assertFits(page);
assert.ok(problems.every((it) => it.includes("404 (Not Found)")), problems.join("\n"));
await end();
console.log(count);
