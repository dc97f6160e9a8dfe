import type { WorldModelRequest } from "@presage/contract";
import type { Presage } from "@presage/sdk";
import type { Changer } from "../../platform/audit.ts";
import { predictThrough } from "../../predictions/through-world.ts";
import { calibrateWorld } from "../../runs/calibrate-world.ts";
import { createClientCounts } from "../../runs/client/client-counts.ts";
import type { Deployments } from "../../upstream/deployments.ts";
import { isNotReady } from "../../worlds/indexes.ts";
import type { WorldParts } from "../../worlds/world-parts.ts";
import {
  createWorld,
  deleteWorld,
  InvalidWorldError,
  reviseWorld,
  type WorldUses,
  type WorldVerbServices,
} from "../../worlds/worlds.ts";
import { findByReference, findReady, previewThrough, toWorld } from "../../worlds/worlds-route.ts";
import { selectWorldRevisions, selectWorlds } from "../../worlds/worlds-store.ts";
import { CommandError } from "../command.ts";
import { readAll } from "../connect.ts";

/** What commands use of worlds. */
export interface WorldCalls {
  worlds: Omit<Presage["worlds"], "calibration" | "coverage">;
  predict(request: WorldModelRequest): ReturnType<Presage["predict"]>;
}

interface WorldServices extends WorldVerbServices, WorldParts {
  deployments: Deployments;
  worldUses: WorldUses;
}

/** The owner's worlds in an opened database, as a server has them. */
export function worldsOfDatabase(services: WorldServices, requester: Changer, userId: string): WorldCalls {
  const { store } = services;
  const { accountId } = requester;
  return {
    worlds: {
      list: () =>
        readAll(async (page) => {
          const { worlds, next } = await selectWorlds(store.briefReader(requester), accountId, page);
          return { rows: worlds.map(toWorld), next };
        }),
      get: async (name) => toWorld(await findByReference(services, requester, name)),
      async create({ name, pinned: copied, ...config }) {
        const wanted = { name, config, copied, userId };
        return toWorld(await createWorld(services, requester, wanted).catch(nameField));
      },
      revise: async (name, changes) =>
        toWorld(await reviseWorld(services, requester, name, changes).catch(nameField)),
      delete: (name) => deleteWorld(services, requester, name),
      async listRevisions(name) {
        const { revision } = await findByReference(services, requester, name);
        const all = { name, limit: revision, below: undefined };
        return (await selectWorldRevisions(store.briefReader(requester), accountId, all)).map(toWorld);
      },
      async calibrate(name, body) {
        const needed = { ...services, clientCounts: createClientCounts() };
        return toWorld(await calibrateWorld(needed, requester, name, body, () => {}));
      },
      preview: (name, request) => onceSearchable(() => previewThrough(services, requester, name, request)),
    },
    async predict({ world: named, ...request }) {
      const world = await findReady(services, requester, named ?? "");
      const reader = store.reader(requester);
      return await onceSearchable(() => predictThrough({ ...services, reader }, world, request));
    },
  };
}

const pauseMs = 1_000;

/** Examples are made searchable anew in each command. However many they are, it waits for them, and for nothing else. */
export async function onceSearchable<Value>(work: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isNotReady(error)) throw error;
      await Bun.sleep(pauseMs);
    }
  }
}

function nameField(error: unknown): never {
  throw error instanceof InvalidWorldError
    ? new CommandError(`${error.path.join(".")}: ${error.message}.`)
    : error;
}
