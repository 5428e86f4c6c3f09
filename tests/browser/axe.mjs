// Checks one page of each kind, and a file, with axe-core, in light and in dark.

import assert from "node:assert/strict";
import { address, end, kinds, openPalace, openWindow, story } from "./palace.mjs";

const axe = `${process.env.BROWSER_PACKAGES}/axe-core/axe.min.js`;
// The content security policy forbids the script of axe too.
const { page } = await openPalace({ bypassCSP: true });
const values = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

async function check(page) {
  await page.$$eval("details", (all) => all.forEach((it) => { it.open = true; }));
  await page.addScriptTag({ path: axe });
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    const found = await page.evaluate((values) => axe.run({ runOnly: { type: "tag", values }, resultTypes: ["violations"] }), values);
    const text = found.violations.map((it) => `${it.id}: ${it.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("\n")}`);
    assert.deepEqual(text, [], `${page.url()}, ${colorScheme}`);
  }
}
for (const path of [...kinds(story.commit), "/rooms/no/such/Room!"]) {
  await page.goto(address(path));
  await check(page);
}
const { page: file } = await openWindow({ bypassCSP: true });
await file.goto(story.file);
await check(file);
await end();
