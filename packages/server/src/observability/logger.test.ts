import { expect, test } from "bun:test";
import { join } from "node:path";

// The threads that write are busy, so that the line is still to be written when the process ends.
const program = `
  import { pbkdf2 } from "node:crypto";
  import { createLog } from ${JSON.stringify(join(import.meta.dir, "logger.ts"))};
  const log = createLog("info");
  for (let job = 0; job < 64; job++) pbkdf2("password", "salt", 100_000, 32, "sha256", () => {});
  log.logger.info("stopped");
  await log.close();
  process.exit();`;

test("The last line is written before the process ends", () => {
  const { stdout } = Bun.spawnSync([process.execPath, "-e", program]);
  expect(String(stdout)).toContain('"msg":"stopped"');
});
