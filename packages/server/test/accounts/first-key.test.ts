import { expect, test } from "bun:test";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { slowTest } from "../support/whole-run.ts";

const keyInText = /psg_[0-9A-Za-z]{38}/g;

/** Starts a server without a bootstrap key, runs `work`, stops the server and returns its output. */
async function runServer(
  environment: Record<string, string>,
  work: (client: ReturnType<typeof apiKeyClient>, stderr: string) => Promise<void>,
): Promise<{ stdout: string; stderr: string }> {
  await using presage = await spawnPresage({ PRESAGE_BOOTSTRAP_KEY: "", ...environment });
  await work(
    apiKeyClient(() => presage),
    await presage.stderr(),
  );
  presage.kill("SIGTERM");
  expect(await presage.exited).toBe(0);
  return { stdout: await presage.stdout(), stderr: await presage.stderr() };
}

onAnyDatabase((database) => {
  test("the bootstrap key exists once from the first start, and stays revoked if revoked", async () => {
    const environment = { PRESAGE_DATABASE_URL: await database.create() };
    let presage = await startPresage(environment);
    const { list, revoke, use } = apiKeyClient(() => presage);
    const [made] = await list();
    expect(await list()).toHaveLength(1);
    expect(made).toMatchObject({
      name: "bootstrap",
      prefix: testKey.slice(0, 8),
      last_four: testKey.slice(-4),
      expires_at: null,
    });
    await presage.stop();

    presage = await startPresage(environment);
    expect((await list()).map(({ id }) => id)).toEqual([made?.id ?? ""]);
    expect(await revoke(made?.id ?? "")).toBe(204);
    expect(await use(testKey)).toBe(401);
    await presage.stop();

    presage = await startPresage(environment);
    expect(await use(testKey)).toBe(401);
    await presage.stop();
  });

  test("the first start in local mode shows a key once, outside the log; later starts show none", async () => {
    const environment = { PRESAGE_DATABASE_URL: await database.create() };
    let key = "";
    const first = await runServer(environment, async ({ use, list }, stderr) => {
      key = stderr.match(keyInText)?.[0] ?? "";
      expect(await use(key)).toBe(200);
      expect(await list(key)).toHaveLength(1);
    });
    expect(new Set(first.stderr.match(keyInText))).toEqual(new Set([key]));
    expect(first.stderr).toContain(` ${key}\n`);
    expect(first.stdout).not.toContain(key.slice(4, -4));

    const second = await runServer(environment, async ({ use }) => expect(await use(key)).toBe(200));
    expect(second.stderr).not.toMatch(keyInText);
    expect(second.stdout).not.toMatch(keyInText);
  });

  slowTest("no key is shown if there is a bootstrap key or an OpenID provider", async () => {
    const oidc = {
      PRESAGE_OIDC_ISSUER: "http://127.0.0.1:1",
      PRESAGE_OIDC_CLIENT_ID: "presage",
      PRESAGE_OIDC_CLIENT_SECRET: "a-secret-that-nobody-knows",
      PRESAGE_OIDC_ALLOWED_DOMAINS: "*",
    };
    for (const more of [{ PRESAGE_BOOTSTRAP_KEY: testKey }, oidc]) {
      const environment = { PRESAGE_DATABASE_URL: await database.create(), ...more };
      const { stdout, stderr } = await runServer(environment, async () => {});
      expect(stderr).not.toMatch(keyInText);
      expect(stdout).not.toMatch(keyInText);
    }
  });
});
