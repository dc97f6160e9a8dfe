import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testKey } from "../../support/presage/presage.ts";
import { usePresage } from "../../support/presage/use-presage.ts";
import { PYTHONPYCACHEPREFIX, pythonEnvironment } from "../../support/python/python-environment.ts";

const python = await pythonEnvironment(["schemathesis==4.32.5"]);
const presage = usePresage();

test.skipIf(python === undefined)(
  "schemathesis finds no request that the document and the server see differently",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "presage-schemathesis-"));
    const child = Bun.spawn(
      [
        ...[
          python ?? "",
          "-m",
          "schemathesis.cli",
          "run",
          `${presage.url}/openapi.json`,
          "--header",
          `X-API-KEY: ${testKey}`,
        ],
        ...[
          "--phases",
          "examples,coverage",
          "--seed",
          "1",
          "--continue-on-failure",
          "--no-color",
          "--warnings",
          "off",
        ],
        // The hooks have a check like it, with a list of the rules that no schema can express.
        ...["--exclude-checks", "positive_data_acceptance"],
      ],
      {
        cwd: folder,
        env: {
          ...process.env,
          PYTHONPYCACHEPREFIX,
          SCHEMATHESIS_HOOKS: join(import.meta.dir, "schemathesis-hooks.fixture.py"),
        },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    await rm(folder, { recursive: true });
    const code = await child.exited;
    if (code !== 0) process.stdout.write(stdout + stderr);
    expect(stdout).toMatch(/\d{4,} generated, \d{4,} passed/);
    expect(code).toBe(0);
  },
  1_200_000,
);
