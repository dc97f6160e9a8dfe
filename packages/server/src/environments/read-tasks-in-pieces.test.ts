import { expect, test } from "bun:test";
import { onEachDatabase } from "../../test/support/store/databases.ts";
import { openStore } from "../../test/support/store/open-store.ts";
import { anyRequester } from "../../test/support/store/requester.ts";
import { insertTasks } from "./environments-store.ts";
import { readTasksInPieces } from "./tasks.ts";

onEachDatabase(({ create }) => {
  test("tasks of an environment that is deleted while they are read break off, and do not just end", async () => {
    await using store = await openStore(await create());
    const { database } = store;
    const task = JSON.stringify({ initial_state: "start" });
    const rows = Array.from({ length: 150 }, (_, position) => ({
      environment_id: "id",
      split: "train" as const,
      position,
      task,
    }));
    await insertTasks(database, rows);
    const wanted = { environment: { id: "id", tasks: { train: 150 } }, split: "train" } as const;
    const readAll = () => readTasksInPieces({ store }, anyRequester(), wanted, { from: 0, limit: 500 });
    const pieces = await readAll();
    expect((await Array.fromAsync(pieces.read())).flat()).toHaveLength(150);
    const reading = pieces.read();
    expect((await reading.next()).value).toHaveLength(100);
    await database.deleteFrom("environment_tasks").where("environment_id", "=", "id").execute();
    // Bun's `rejects` does not notice SQLite's reading thread.
    const reasonOf = (reads: Promise<unknown>) => reads.then(String, (error: Error) => error.message);
    expect(await reasonOf(reading.next())).toBe("There is no such environment.");
    expect(await reasonOf(readAll())).toBe("There is no such environment.");
  });
});
