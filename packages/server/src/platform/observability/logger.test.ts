import { expect, test } from "bun:test";
import { join } from "node:path";

// The threads that write are busy, so the line is not yet written when the process ends.
const program = `
  import { pbkdf2 } from "node:crypto";
  import { createLog } from ${JSON.stringify(join(import.meta.dir, "logger.ts"))};
  const log = createLog("info");
  for (let job = 0; job < 8; job++) pbkdf2("password", "salt", 100_000, 32, "sha256", () => {});
  log.logger.info("stopped");
  await log.close();
  process.exit();`;

test("The last line is written before the process ends", () => {
  const { stdout } = Bun.spawnSync([process.execPath, "-e", program]);
  expect(String(stdout)).toContain('"msg":"stopped"');
});

// Logs lines until one cannot be written, which the server reports, and then two more.
const lines = `
  import { createLog } from ${JSON.stringify(join(import.meta.dir, "logger.ts"))};
  let left = 1_000;
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (text) => {
    left = 2;
    return write(text);
  };
  const log = createLog("info");
  while (left-- > 0) {
    log.logger.info("line");
    await Bun.sleep(20);
  }
  await log.close();
  process.exit(7);`;

test.each([
  ["a disk that is full", "> /dev/full", "ENOSPC"],
  ["a reader that is gone", "| true", "EPIPE"],
])("%s is reported once, and does not keep the process", (_, output, code) => {
  const script = `{ "$0" -e "$1"; echo "exit code $?" >&2; } ${output}`;
  const { stderr } = Bun.spawnSync(["sh", "-c", script, process.execPath, lines], { timeout: 60_000 });
  expect(String(stderr)).toMatch(new RegExp(`^The log cannot be written: ${code}.*\nexit code 7\n$`));
});

const failing = `
  import { createLog } from ${JSON.stringify(join(import.meta.dir, "logger.ts"))};
  const log = createLog("info");
  log.logger.error({ err: Object.assign(new Error("refused"), { code: "23514", detail: "the prompt" }) }, "failed");
  log.logger.error({ err: "only a text" }, "failed");
  await log.close();`;

test("an error is logged without the row that PostgreSQL shows in its details", () => {
  const { stdout } = Bun.spawnSync([process.execPath, "-e", failing]);
  const [first, second] = String(stdout)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(first.err).toMatchObject({ message: "refused", code: "23514" });
  expect(first.err.detail).toBeUndefined();
  expect(second.err).toBe("only a text");
});
