import { expect, test } from "bun:test";
import { Episode } from "@presage/contract";
import { orsClient, readCall } from "../support/environments/ors-client.ts";
import { eventually } from "../support/eventually.ts";
import { startPresage, type TestPresage } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { requestsIn, usageClient } from "../support/resources/usage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";
import { slowTest } from "../support/whole-run.ts";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_RETRIES: "0" });
  const client = orsClient(presage);
  const wanted = { env_name: "sandbox", split: "train", index: 0 };

  async function historyOf(sessionId: string): Promise<string[]> {
    const [id] = sessionId.split(".");
    const response = await presage.call("GET", `/v1/episodes/${id}`);
    return Episode.parse(await response.json()).steps.map(
      ({ action, observation }) => `${action}: ${observation}`,
    );
  }

  /** Gives each call to the upstream its own answer. */
  function answerInTurn(delayMs = 0): void {
    upstream.received.length = 0;
    upstream.answer = async () => {
      const number = upstream.received.length;
      await Bun.sleep(delayMs);
      return Response.json(completion(`answer ${number}`));
    };
  }

  test("a cut after the task's id costs no step, and none is taken twice", async () => {
    answerInTurn(5);
    const play = async (sessionId: string, seen: string[]) => {
      for (const action of ["a", "b", "c", "c"]) {
        let taskId = await client.cut(sessionId, "sandbox", action);
        // One connection is also cut while the client waits for the second time.
        if (action === "b") taskId = await client.cut(sessionId, "sandbox", action, taskId);
        const called = await client.call(sessionId, "sandbox", action, taskId);
        expect(called.taskId).toBe(taskId);
        if (called.result.ok) seen.push(`${action}: ${called.result.output.blocks[0]?.text}`);
      }
    };
    const sessions = await Promise.all(Array.from({ length: 15 }, () => client.start(wanted)));
    await Promise.all(
      sessions.map(async (sessionId) => {
        const seen: string[] = [];
        await play(sessionId, seen);
        expect(seen).toHaveLength(4);
        expect(await historyOf(sessionId)).toEqual(seen);
      }),
    );
    expect(upstream.received).toHaveLength(15 * 4);
  });

  test("a client that never learned its task gets the result that it has not seen, once", async () => {
    // Long enough that the cut is noticed before the result is sent.
    answerInTurn(100);
    const sessionId = await client.start(wanted);
    const first = await client.call(sessionId, "sandbox", "look");
    await client.cut(sessionId, "sandbox", "look");
    // The step is taken either while no client waits for it, or when the client is back.
    const second = await client.call(sessionId, "sandbox", "look");
    const third = await client.call(sessionId, "sandbox", "look");
    expect(new Set([first, second, third].map(({ taskId }) => taskId)).size).toBe(3);
    expect(await historyOf(sessionId)).toEqual(["look: answer 1", "look: answer 2", "look: answer 3"]);
  });

  test("a call that is cut while the model answers goes on, and another action is another step", async () => {
    answerInTurn(100);
    const sessionId = await client.start(wanted);
    const taskId = await client.cut(sessionId, "sandbox", "wait");
    const again = await client.call(sessionId, "sandbox", "wait");
    expect([taskId, (await historyOf(sessionId)).length]).toEqual([again.taskId, 1]);
    await client.cut(sessionId, "sandbox", "wait");
    await eventually(
      () => historyOf(sessionId),
      (history) => history.length === 2,
    );
    await client.call(sessionId, "sandbox", "open");
    expect((await historyOf(sessionId)).map((line) => line.split(":")[0])).toEqual(["wait", "wait", "open"]);
  });

  slowTest("a client that waits long hears something after 10 s, and then the result", async () => {
    if (database.name !== "SQLite") return;
    const held = Promise.withResolvers<void>();
    upstream.answer = async () => {
      await held.promise;
      return Response.json(completion("at last"));
    };
    const sessionId = await client.start(wanted);
    const body = { name: "act", input: { action: "look" } };
    const response = await client.send("POST", "/sandbox/call", body, sessionId);
    const [heard, whole] = response.body?.tee() ?? [];
    const copy = readCall(new Response(whole, { headers: response.headers }));
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of heard ?? []) {
      text += decoder.decode(bytes, { stream: true });
      // Waits for the first line that is a comment.
      if (/^:.*\n/m.test(text)) held.resolve();
    }
    expect(text.indexOf("task_id")).toBeLessThan(text.search(/^:/m));
    expect((await copy).result).toMatchObject({ ok: true, output: { blocks: [{ text: "at last" }] } });
  });

  test("every step is counted as one prediction with its tokens, whether or not its client waited", async () => {
    answerInTurn();
    const { id, key } = await apiKeyClient(() => presage).create("plays");
    const player = orsClient(presage, key);
    const usage = async () => (await usageClient(() => presage).list({ api_key_id: id })).data;
    const sessionId = await player.start(wanted);
    const taskId = await player.cut(sessionId, "sandbox", "one");
    await player.call(sessionId, "sandbox", "one", taskId);
    await player.call(sessionId, "sandbox", "two");
    upstream.answer = () => new Response("no", { status: 500 });
    await player.call(sessionId, "sandbox", "three");
    const rows = await eventually(usage, (some) => requestsIn(some) >= 3);
    expect(rows).toMatchObject([
      {
        operation: "predict",
        requests: 3,
        failures: { upstream: 1 },
        prompt_tokens: 22,
        completion_tokens: 14,
      },
    ]);
  });

  test("several processes that take one step store it once", async () => {
    if (database.name === "SQLite") return;
    const environment = {
      PRESAGE_DATABASE_URL: presage.databaseUrl,
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_RETRIES: "0",
    };
    const second: TestPresage = await startPresage(environment);
    const there = orsClient(second);
    try {
      answerInTurn(20);
      const sessions = await Promise.all(Array.from({ length: 10 }, () => client.start(wanted)));
      const play = async (sessionId: string) => {
        const seen: string[] = [];
        for (const action of ["a", "b", "b"]) {
          const taskId = await client.cut(sessionId, "sandbox", action);
          const [here, elsewhere] = await Promise.all([
            client.call(sessionId, "sandbox", action, taskId),
            there.call(sessionId, "sandbox", action, taskId),
          ]);
          expect(elsewhere).toEqual(here);
          if (here.result.ok) seen.push(`${action}: ${here.result.output.blocks[0]?.text}`);
        }
        expect(await historyOf(sessionId)).toEqual(seen);
        expect(seen).toHaveLength(3);
      };
      await Promise.all(sessions.map(play));
      // Now for a task that the other process does not know.
      const [sessionId = ""] = sessions;
      await client.cut(sessionId, "sandbox", "c");
      await eventually(
        () => historyOf(sessionId),
        (history) => history.length === 4,
      );
      await there.call(sessionId, "sandbox", "c");
      expect(await historyOf(sessionId)).toHaveLength(4);
    } finally {
      await second.stop();
    }
  });

  test("sessions that are in use stay, and what nobody uses ends", async () => {
    await using store = await openStore(presage.databaseUrl);
    const other = await startPresage({ PRESAGE_DATABASE_URL: presage.databaseUrl });
    try {
      const sessionId = await client.start(wanted);
      const [id = ""] = sessionId.split(".");
      const tenMinutesAgo = Date.now() * 1_000 - 600_000_000;
      await store.database
        .updateTable("ors_sessions")
        .set({ last_used_at: tenMinutesAgo })
        .where("id", "=", id)
        .execute();
      await store.database
        .updateTable("episodes")
        .set({ last_active_at: tenMinutesAgo })
        .where("id", "=", id)
        .execute();
      expect((await orsClient(other).send("POST", "/ping", undefined, sessionId)).status).toBe(200);
      const lastUse = async () => {
        const { last_used_at } = await store.database
          .selectFrom("ors_sessions")
          .select("last_used_at")
          .where("id", "=", id)
          .executeTakeFirstOrThrow();
        const { last_active_at } = await store.database
          .selectFrom("episodes")
          .select("last_active_at")
          .where("id", "=", id)
          .executeTakeFirstOrThrow();
        return Math.min(Number(last_used_at), Number(last_active_at));
      };
      expect(await eventually(lastUse, (at) => at > tenMinutesAgo + 500_000_000)).toBeGreaterThan(
        tenMinutesAgo + 500_000_000,
      );
    } finally {
      await other.stop();
    }
  });
});
