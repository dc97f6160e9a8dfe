import type { TaskSplitName } from "@presage/contract";
import type { Changer } from "../platform/actor.ts";
import { ServiceError } from "../platform/errors.ts";
import { recordChange } from "../platform/record-change.ts";
import { doOnce } from "../platform/storage/do-once.ts";
import type { Once } from "../platform/storage/once.ts";
import type { TaskCounts } from "./environment.ts";
import type { EnvironmentServices } from "./environment-services.ts";
import { lockEnvironment } from "./environments-store.ts";
import { noSuchEnvironment, refuseBuiltIn } from "./find-environment.ts";
import { insertTasks, updateTaskCounts } from "./tasks-store.ts";

/** A split of many tasks is drawn from, not listed. */
const maxTasks = 1_000_000;

export interface NewTask {
  split: TaskSplitName;
  /** As JSON: its objects would take a hundred times the memory of their text. */
  task: string;
}

export interface AddedTasks {
  added: TaskCounts;
  tasks: TaskCounts;
}

/** Appends tasks to the splits of an environment: all of them, or none. */
export async function addTasks(
  { store }: Pick<EnvironmentServices, "store">,
  requester: Changer,
  name: string,
  newTasks: readonly NewTask[],
  once?: Once,
): Promise<AddedTasks> {
  refuseBuiltIn(name);
  return await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const environment = await lockEnvironment(transaction, requester.accountId, name);
      if (environment === undefined) throw noSuchEnvironment();
      const tasks = JSON.parse(environment.tasks) as TaskCounts;
      const added: TaskCounts = {};
      const rows = newTasks.map(({ split, task }) => {
        const position = tasks[split] ?? 0;
        tasks[split] = position + 1;
        added[split] = (added[split] ?? 0) + 1;
        return { environment_id: environment.id, split, position, task };
      });
      if (Object.values(tasks).some((count) => count > maxTasks))
        throw new ServiceError("quota_exceeded", `A split of an environment has at most ${maxTasks} tasks.`);
      await insertTasks(transaction, rows);
      await updateTaskCounts(transaction, environment.id, tasks);
      await recordChange(transaction, requester, {
        action: "environment.add_tasks",
        objectId: environment.id,
        detail: { name, ...added },
      });
      return { added, tasks };
    },
    toReceipt: (done) => done,
    recall: async (done) => done,
  });
}
