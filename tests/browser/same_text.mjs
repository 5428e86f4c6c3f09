// Compares the visible text of each room with what `palazzo show` prints.

import assert from "node:assert/strict";
import { address, end, openPalace, story } from "./palace.mjs";

const opened = await openPalace();
const { page } = opened;
const plain = (text) => text.replaceAll("─", "").replace(/\s+/g, " ").trim();
for (const [room, shown] of Object.entries(story.rooms)) {
  await page.goto(address(`/rooms/${room}`));
  await page.$$eval("details", (all) => all.forEach((it) => { it.open = true; }));
  const text = plain(await page.locator("main").innerText());
  for (const line of shown.split("\n").map(plain)) assert.ok(text.includes(line), `${room}: ${line}\n\n${text}`);
}
await end(opened);
