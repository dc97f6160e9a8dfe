import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connectRedis, type Redis } from "../../../src/platform/redis.ts";
import { createCompletionCache, readCompletion } from "../../../src/upstream/cache.ts";
import { eventually, expectEventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { startLyingRedis } from "../../support/redis/start-lying-redis.ts";
import { redisProgram, startRedis, type TestRedis } from "../../support/redis/start-redis.ts";
import { selfSignedCertificate } from "../../support/upstream/self-signed-certificate.ts";

/** A connection, and the lines that it logs. */
function connect(url: string) {
  const lines: { message: string; fields: Record<string, unknown> }[] = [];
  const log = (...[first, second]: unknown[]) => {
    const isText = typeof first === "string";
    lines.push({ message: String(isText ? first : second), fields: isText ? {} : Object(first) });
  };
  const redis = connectRedis(url, { info: log, warn: log });
  return { redis, lines, messages: () => lines.map(({ message }) => message) };
}

const isAny = (_: unknown): _ is unknown => true;

/** The answer to a command. A busy machine may miss the time-out, so the command is repeated. */
const answerOf = ({ ask }: Redis, command: Parameters<typeof ask>[0]) =>
  eventually(
    () => ask(command, isAny),
    (answer) => answer !== undefined,
  );

const late = "Redis answers too late; each process works by itself";
const gone = "Redis is unavailable; each process works by itself";
const back = "Redis is available again";

test("without a server nothing waits, and one line says why", async () => {
  const { redis, lines } = connect(`redis://me:secret@127.0.0.1:${await freePort()}`);
  expect(await redis.ask((client) => client.get("a"), isAny)).toBeUndefined();
  await eventually(
    () => lines.length,
    (count) => count > 0,
  );
  expect(redis.isUp()).toBe(false);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    message: gone,
    fields: { reason: expect.stringContaining("ECONNREFUSED") },
  });
  expect(JSON.stringify(lines)).not.toContain("secret");
  redis.stop();
});

test("a certificate that is not trusted is refused", async () => {
  using server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    tls: selfSignedCertificate(),
    socket: { data() {} },
  });
  const { redis, lines } = connect(`rediss://localhost:${server.port}`);
  await eventually(
    () => lines.length,
    (count) => count > 0,
  );
  expect(lines[0]?.fields).toEqual({ reason: "self signed certificate" });
  redis.stop();
});

test("answers of another kind are none, and one line says so, without their texts", async () => {
  const server = startLyingRedis();
  const { redis, lines } = connect(server.url);
  await expectEventually(redis.isUp, true);
  const isNumber = (reply: unknown): reply is number => typeof reply === "number";
  const ask = () => redis.ask((client) => client.zcard("a"), isNumber);
  server.reply = ":3\r\n";
  await expectEventually(ask, 3);
  server.reply = "$6\r\nsecret\r\n";
  await eventually(
    async () => [await ask(), lines.length],
    () => lines.length > 0,
  );
  for (let call = 0; call < 3; call += 1) expect(await ask()).toBeUndefined();
  expect(lines).toEqual([
    {
      message: "Redis answers with what was not asked for; each process works by itself",
      fields: { type: "string" },
    },
  ]);
  expect(redis.isUp()).toBe(true);
  redis.stop();
  server.stop();
});

describe.skipIf(redisProgram === undefined)("A connection", () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  test("answers once it is up, in the database of its URL", async () => {
    const { redis, lines } = connect(`${server.url}/3`);
    await expectEventually(redis.isUp, true);
    expect(await answerOf(redis, (client) => client.set("a", "b"))).toBe("OK");
    expect(await answerOf(redis, (client) => client.get("a"))).toBe("b");
    expect(await answerOf(redis, (client) => client.get("missing"))).toBeNull();
    expect(await server.command("GET", "a")).toBeNull();
    redis.stop();
    expect(await redis.ask((client) => client.get("a"), isAny)).toBeUndefined();
    expect(lines).toEqual([]);
  });

  test("with a wrong password says so, without the password", async () => {
    const { redis, lines } = connect(server.url.replace("redis-of-the-tests", "wrong-secret"));
    await eventually(
      () => lines.length,
      (count) => count > 0,
    );
    expect(lines).toMatchObject([
      { message: gone, fields: { reason: expect.stringContaining("WRONGPASS") } },
    ]);
    expect(JSON.stringify(lines)).not.toContain("secret");
    redis.stop();
  });

  test("to a server that hangs asks it again later, and reconnects", async () => {
    const { redis, messages } = connect(server.url);
    await expectEventually(redis.isUp, true);
    server.freeze();
    try {
      // Timers fire in the order of their times, however late, and the connection is given up only after a second.
      const { promise: later, resolve } = Promise.withResolvers<string>();
      setTimeout(resolve, 500, "later");
      const answer = redis.ask((client) => client.get("a"), isAny);
      expect(await Promise.race([answer, later])).toBeUndefined();
      expect(redis.isUp()).toBe(false);
      await eventually(messages, (all) => all.includes(gone));
    } finally {
      server.thaw();
    }
    await eventually(messages, (all) => all.includes(back));
    expect(await answerOf(redis, (client) => client.set("a", "c"))).toBe("OK");
    expect(messages()).toEqual([late, gone, back]);
    redis.stop();
  });

  test("that answers too late says so once, and then rests", async () => {
    const { redis, lines } = connect(server.url);
    await expectEventually(redis.isUp, true);
    // Holds up only this connection, and for less time than it takes to be given up.
    const askInVain = () => redis.ask((client) => client.blpop("missing", 0.2), isAny);
    expect(await askInVain()).toBeUndefined();
    expect(redis.isUp()).toBe(false);
    await expectEventually(redis.isUp, true);
    expect(await askInVain()).toBeUndefined();
    expect(lines).toEqual([{ message: late, fields: { waitedMs: 50 } }]);
    redis.stop();
  });

  test("does not rest for what nobody waits for", async () => {
    const { redis, lines } = connect(server.url);
    await expectEventually(redis.isUp, true);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    redis.tell((client) => client.blpop("missing", 0.2).finally(() => resolve("ended")));
    expect(await promise).toBe("ended");
    expect(redis.isUp()).toBe(true);
    expect(lines).toEqual([]);
    redis.tell((client) => client.call("FOO", "secret"));
    await eventually(
      () => lines,
      (all) => all.length > 0,
    );
    expect(lines).toEqual([
      { message: "Redis refuses commands", fields: { reason: "ERR unknown command 'FOO'" } },
    ]);
    redis.stop();
    redis.tell((client) => client.get("a"));
  });

  test("does not rest while a completion is stored", async () => {
    const { redis, lines } = connect(server.url);
    await expectEventually(redis.isUp, true);
    const shared = { redis, secret: "secret" };
    const cache = createCompletionCache({ maxBytes: 1e6, maxAgeS: 60, epoch: "", shared });
    await server.command("CLIENT", "PAUSE", "200", "WRITE");
    cache.keep("key", new Uint8Array(1_000), readCompletion({ choices: [{ message: {} }] }));
    // The ping is held up on the same connection, after the completion.
    await redis.client.ping();
    expect(await server.command("KEYS", "presage:completion:*")).toHaveLength(1);
    expect([redis.isUp(), lines]).toEqual([true, []]);
    redis.stop();
  });

  test("that breaks has one line when it goes and one when it is back", async () => {
    const { redis, messages } = connect(server.url);
    await expectEventually(redis.isUp, true);
    const pending = Promise.all(
      Array.from({ length: 100 }, () => redis.ask((client) => client.get("a"), isAny)),
    );
    await server.stop();
    expect(await pending).toHaveLength(100);
    await eventually(messages, (all) => all.includes(gone));
    expect(await redis.ask((client) => client.get("a"), isAny)).toBeUndefined();
    await server.start();
    await expectEventually(redis.isUp, true);
    expect(await answerOf(redis, (client) => client.get("a"))).toBeNull();
    // On a busy machine Redis may also have answered too late before.
    expect(messages().filter((one) => one === gone || one === back)).toEqual([gone, back]);
    redis.stop();
  });

  test("that is refused a command says so once, without its arguments", async () => {
    const { redis, lines } = connect(server.url);
    await expectEventually(redis.isUp, true);
    const commands = () =>
      Promise.all(["FOO", "FOO"].map((name) => redis.ask((client) => client.call(name, "secret"), isAny)));
    await eventually(
      async () => [await commands(), lines.length],
      () => lines.length > 0,
    );
    expect(await commands()).toEqual([undefined, undefined]);
    expect(lines).toEqual([
      { message: "Redis refuses commands", fields: { reason: "ERR unknown command 'FOO'" } },
    ]);
    redis.stop();
  });
});
