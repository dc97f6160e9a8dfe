import { afterAll, beforeAll, expect, test } from "bun:test";
import { connectRedis } from "../../../src/platform/redis.ts";
import { expectEventually } from "../../support/eventually.ts";
import { startPresage, type TestPresage } from "../../support/presage/presage.ts";
import { readMetric } from "../../support/presage/read-metric.ts";
import { type LyingRedis, startLyingRedis } from "../../support/redis/start-lying-redis.ts";
import { useUpstream } from "../../support/upstream/use-upstream.ts";

const upstream = useUpstream();
const perMinute = 100_000;
let redis: LyingRedis;
let presage: TestPresage;

beforeAll(async () => {
  redis = startLyingRedis();
  presage = await startPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_MODEL: "test-model",
    PRESAGE_CACHE: "deterministic",
    PRESAGE_RATE_LIMIT_RPM: String(perMinute),
    PRESAGE_REDIS_URL: redis.url,
  });
});
afterAll(async () => {
  await presage.stop();
  redis.stop();
});

const bytes = (text: string) => `$${text.length}\r\n${text}\r\n`;
const aCompletion = `${"\0".repeat(24)}{"choices":[{"message":{"content":"Another's text."},"finish_reason":"stop"}]}`;

const lies: [what: string, reply: string][] = [
  ["a number", ":5\r\n"],
  ["a number below zero", ":-5\r\n"],
  ["a huge number", ":9223372036854775807\r\n"],
  ["nothing", "$-1\r\n"],
  ["no array", "*-1\r\n"],
  ["an empty array", "*0\r\n"],
  ["an array of texts that are no numbers", "*1\r\n$3\r\nabc\r\n"],
  ["an array of an empty text", "*1\r\n$0\r\n\r\n"],
  ["an array of numbers", "*1\r\n:5\r\n"],
  ["an array of too many tokens", "*1\r\n$20\r\n99999999999999999999\r\n"],
  ["an array that is too long", `*9\r\n${"$1\r\n5\r\n".repeat(9)}`],
  ["an array in an array", "*1\r\n*1\r\n*0\r\n"],
  ["a line", "+OK\r\n"],
  ["an empty text", bytes("")],
  ["a short text", bytes("abc")],
  ["a completion that is not ours", bytes(aCompletion)],
  ["an error", "-ERR lies\r\n"],
  ["an error without a name", "-\r\n"],
  ["a script that is not there", "-NOSCRIPT No matching script.\r\n"],
  ["a failover", "-READONLY You can't write against a read only replica.\r\n"],
  ["a cluster", "-MOVED 3999 127.0.0.1:1\r\n"],
  ["a map", "%1\r\n+a\r\n:1\r\n"],
  ["a truth", "#t\r\n"],
  ["a double that is no number", ",nan\r\n"],
  ["a message", "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n"],
  ["a push", ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n"],
  ["two replies for one", ":1\r\n:1\r\n"],
  ["half a line", "$100\r\nhalf"],
  ["another protocol", "HTTP/1.1 200 OK\r\n\r\n"],
];

let step = 0;

test.each(lies)(
  "Redis that answers with %s costs no request, and no text of it is anyone's",
  async (_, reply) => {
    redis.reply = "$-1\r\n";
    await expectEventually(() => readMetric(presage, "presage_redis_up"), 1);
    redis.reply = reply;
    redis.answered.length = 0;
    // On a busy machine the server may not ask Redis for a while.
    for (let call = 0; call < 3 || (call < 1_000 && redis.answered.length === 0); call += 1) {
      step += 1;
      const messages = [{ role: "user", content: `Step ${step}` }];
      const response = await presage.call("POST", "/v1/chat/completions", { messages, temperature: 0 });
      expect([response.status, await response.text()]).toEqual([
        200,
        expect.stringContaining("The door is open."),
      ]);
      const left = Number(response.headers.get("x-ratelimit-remaining-requests"));
      expect(left).toBeWithin(perMinute - 1_000, perMinute);
    }
    expect(redis.answered.length).toBeGreaterThan(0);
  },
);

test("whatever Redis answers while connections open, a process goes on, and asks it once it is well", async () => {
  for (const [, reply] of lies) {
    const bad = startLyingRedis();
    bad.opensWell = false;
    bad.reply = reply;
    const connection = connectRedis(bad.url, { info() {}, warn() {} });
    await expectEventually(() => bad.answered.length > 0, true);
    const answer = await connection.ask(
      (client) => client.zcard("a"),
      (got) => got === "well",
    );
    expect(answer).toBeUndefined();
    connection.stop();
    bad.stop();
  }
  const bad = startLyingRedis();
  Object.assign(bad, { opensWell: false, reply: "-ERR lies\r\n" });
  const connection = connectRedis(bad.url, { info() {}, warn() {} });
  await expectEventually(() => bad.answered.length > 0, true);
  Object.assign(bad, { opensWell: true, reply: ":3\r\n" });
  await expectEventually(
    () =>
      connection.ask(
        (client) => client.zcard("a"),
        (got) => typeof got === "number",
      ),
    3,
  );
  connection.stop();
  bad.stop();
});
