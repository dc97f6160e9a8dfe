import { expect, spyOn, test } from "bun:test";
import type { EnvironmentRevision } from "../../src/environments/environment.ts";
import { insertRows } from "../../src/platform/storage/rows.ts";
import { createCheck } from "../../src/reality/checks.ts";
import {
  type CheckedPlace,
  deleteCheckRows,
  insertCheck,
  selectEpisodesOfEnvironment,
  selectInOrder,
} from "../../src/reality/checks-store.ts";
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
      ...{ task_id: `t${task}`, policy: "step-1", simulated: true, real: false },
    }));
    const wanted = { name: "lab", environment: "sandbox", pairs, userId: "user" };
    await createCheck(services, anyRequester(), wanted);

    await opened.database
      .insertInto("environments")
      .values({
        ...{
          id: "sandbox",
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
    const watch = watchReality(services, (_, alarm) => told.push("policy" in alarm ? alarm.policy : "all"));
    const look = (revision: number, limit?: number) =>
      watch.stateOf(anyRequester(), {
        ...{ id: "sandbox", name: "sandbox", revision },
        config: { real: { name: "lab", false_success_limit: limit } },
      } as EnvironmentRevision);
    for (const revision of [1, 2, 1, 2]) await look(revision, 0.1);
    expect(told).toEqual(["all", "step-1"]);
    expect((await watch.all()).map(({ state }) => state.state)).toEqual(["too-few"]);
    await look(1, 0.1);
    // Another process revised it, and nobody has asked for that revision here.
    await opened.database.updateTable("environments").set({ last_revision: 3 }).execute();
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
    const revision = { id: "sandbox", name: "sandbox", revision: 1, config } as EnvironmentRevision;
    expect(await watch.stateOf(anyRequester(), revision)).toMatchObject({
      ...{ state: "ok", value: 0, count: 2_500, tasks: 50 },
    });
  });

  test("of environments of one name each has its own checks, in the order in which episodes were checked", async () => {
    await using opened = await openStore(await database.create());
    const store = storeOf(opened.database);
    const episode = {
      ...{ task_id: "t", policy: null, replayed: null, simulated_reward: null },
    };
    const rows: [id: string, environmentId: string | null, minutes: [number, number]][] = [
      ["a", "e", [1, 4]],
      ["b", "e", [2, 3]],
      ["c", "deleted", [1, 2]],
      ["d", null, [5, 6]],
    ];
    for (const [id, environment_id, minutes] of rows) {
      await insertCheck(opened.database, {
        ...{ id, account_id: "account", name: id, environment: "sandbox", environment_id, episodes: 2 },
        ...{
          environment_revision: 1,
          source: "episodes",
          real: "lab",
          recordings: null,
          status: "completed",
        },
        ...{ drawn_until: null, false_success_limit: null, created_by: "user" },
      });
      await insertRows(
        opened.database,
        "reality_episodes",
        minutes.map((minute, index) => ({
          ...{
            ...episode,
            check_id: id,
            position: index + 1,
            episode_id: `${id}${minute}`,
            simulated: 1,
            real: 0,
          },
          ...{ real_reward: null, steps: 1, diverged_at: null, verbs: null, checked_at: minute },
        })),
      );
    }
    const wanted = { accountId: "account", environmentId: "e", environment: "sandbox", revision: 1 };
    const inOrder = async (after?: CheckedPlace) =>
      await selectInOrder(opened.database, wanted, { after, limit: 4 });
    const first = await inOrder();
    expect(first.map((one) => one.episode_id)).toEqual(["a1", "b2", "b3", "a4"]);
    expect((await inOrder(first[1])).map((one) => one.episode_id)).toEqual(["b3", "a4", "d5", "d6"]);
    const shown = await selectEpisodesOfEnvironment(opened.database, wanted, 3);
    expect(shown.map((one) => one.episode_id)).toEqual(["a4", "d5", "d6"]);

    const watch = watchReality({ store }, () => {});
    const config = { real: { name: "lab", false_success_limit: 0.1 } };
    const revision = { id: "e", name: "sandbox", revision: 1, config } as EnvironmentRevision;
    expect(await watch.stateOf(anyRequester(), revision)).toMatchObject({ count: 6, value: 1 });
    // Replaces some pairs by as many others.
    await deleteCheckRows(opened.database, "account", "a");
    const pairs = ["p", "q"].map((task_id) => ({ task_id, simulated: true, real: true }));
    const services = {
      store,
      knownWorlds,
      realEnvironments: { find: () => undefined },
      replays: { wake() {} },
    };
    await createCheck(services, anyRequester(), { name: "p", environment: "sandbox", pairs, userId: "user" });
    await opened.database
      .updateTable("reality_checks")
      .set({ environment_id: "e" })
      .where("name", "=", "p")
      .execute();
    expect(await watch.stateOf(anyRequester(), revision, 0)).toMatchObject({ count: 6, value: 4 / 6 });
  });

  test("starts go by what was seen last where the next look takes long or fails", async () => {
    await using opened = await openStore(await database.create());
    const store = storeOf(opened.database);
    const watch = watchReality({ store }, () => {});
    const config = { real: { name: "lab", false_success_limit: 0.1 } };
    const revision = { id: "sandbox", name: "sandbox", revision: 1, config } as EnvironmentRevision;
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
