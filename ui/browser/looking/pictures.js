// Takes pictures of whole pages, when somebody names a folder for them.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Chromium draws nothing beyond this. */
const HEIGHT_MAX = 16_000;

/** Takes a picture into the folder that SCREENSHOTS names. The window is as high as the page meanwhile. */
export async function takePicture(page, name) {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  const before = page.viewportSize();
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width: before.width, height: Math.min(height, HEIGHT_MAX) });
  await page.waitForTimeout(150);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.setViewportSize(before);
  await page.waitForTimeout(50);
}
