import { expect, spyOn, test } from "bun:test";
import type { EnvironmentRevision } from "../../src/environments/environment.ts";
import { createCheck } from "../../src/reality/checks.ts";
import { watchReality } from "../../src/reality/watch.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { anyRequester } from "../support/store/requester.ts";
import { storeOf } from "../support/store/store-of.ts";

const knownWorlds = { find: () => Promise.reject(new Error("There are no worlds.")) };

onAnyDatabase((database) => {
  test("an alarm is told once, and what is shown is of the latest revision", async () => {
    await using opened = await openStore(await database.create());
    const store = storeOf(opened.database);
    const services = {
      store,
      knownWorlds,
      realEnvironments: { find: () => undefined },
      replays: { wake() {} },
    };
    const pairs = Array.from({ length: 60 }, (_, task) => ({
      ...{ task_id: `t${task}`, simulated: true, real: false },
    }));
    const wanted = { name: "lab", environment: "sandbox", pairs, userId: "user" };
    await createCheck(services, anyRequester(), wanted);

    await opened.database
      .insertInto("environments")
      .values({
        ...{
          id: "e",
          account_id: "account",
          name: "sandbox",
          last_revision: 2,
          tasks: "{}",
          created_by: "user",
        },
        created_at: 1,
      })
      .execute();
    const told: string[] = [];
    const watch = watchReality(services, ({ state }) => told.push(state.state));
    const look = (revision: number, limit?: number) =>
      watch.stateOf(anyRequester(), {
        ...{ id: "e", name: "sandbox", revision },
        config: { real: { name: "lab", false_success_limit: limit } },
      } as EnvironmentRevision);
    for (const revision of [1, 2, 1, 2]) await look(revision, 0.1);
    expect(told).toEqual(["alarm"]);
    expect((await watch.all()).map(({ state }) => state.state)).toEqual(["too-few"]);
    await look(3);
    await look(1, 0.1);
    expect(await watch.all()).toEqual([]);
  });

  test("an alarm counts from the first check, in pages, and of an episode its last check", async () => {
    await using opened = await openStore(await database.create());
    const store = storeOf(opened.database);
    const services = {
      store,
      knownWorlds,
      realEnvironments: { find: () => undefined },
      replays: { wake() {} },
    };
    const check = (name: string, real: boolean, episodes: number) =>
      createCheck(services, anyRequester(), {
        ...{ name, environment: "sandbox", userId: "user" },
        pairs: Array.from({ length: episodes }, (_, index) => ({
          ...{ task_id: `t${index % 50}`, episode_id: `e${index}`, simulated: true, real },
        })),
      });
    await check("wrong", false, 100);
    await check("right", true, 2_500);
    const watch = watchReality(services, () => {});
    const config = { real: { name: "lab", false_success_limit: 0.1 } };
    const revision = { id: "e", name: "sandbox", revision: 1, config } as EnvironmentRevision;
    expect(await watch.stateOf(anyRequester(), revision)).toMatchObject({
      ...{ state: "ok", value: 0, count: 2_500, tasks: 50 },
    });
  });

  test("starts go by what was seen last where the next look takes long or fails", async () => {
    await using opened = await openStore(await database.create());
    const store = storeOf(opened.database);
    const watch = watchReality({ store }, () => {});
    const config = { real: { name: "lab", false_success_limit: 0.1 } };
    const revision = { id: "e", name: "sandbox", revision: 1, config } as EnvironmentRevision;
    const before = await watch.stateOf(anyRequester(), revision);
    const briefReader = () => {
      throw new Error("Earlier reads took too long.");
    };
    Object.assign(store, { briefReader });
    const later = performance.now() + 10_000;
    using _ = spyOn(performance, "now").mockReturnValue(later);
    expect(await watch.stateOf(anyRequester(), revision)).toEqual(before);
    await expect(watch.stateOf(anyRequester(), revision, 0)).rejects.toThrow("took too long");
  });
});
