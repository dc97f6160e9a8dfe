import type { Operation } from "../document.ts";
import type { ReferenceKind } from "../generate/draw.ts";

export interface MadeKey {
  key: string;
  /** The account of the caller who created it. */
  owner: string;
}

/** The objects in responses so far. */
export interface KnownObjects {
  /** Stores the ids of a response for later requests. `owner` is the caller's account. */
  learn(operation: Pick<Operation, "id">, response: unknown, owner: string): void;
  find(kind: ReferenceKind, number: number): string;
  /** The account that owns an object; undefined if unknown or if everyone may access it. */
  ownerOf(id: string): string | undefined;
  /** A key that an earlier request created. */
  madeKey(number: number): MadeKey | undefined;
  /** Never use this id in requests: the fuzzer itself needs the object. */
  protect(id: string): void;
}

/** The number of ids kept of each kind, the latest. */
const kept = 500;
/** The prefix of built-in taxonomies, which belong to every account. */
const builtInPrefix = "system:";

const sources: Record<string, Partial<Record<string, ReferenceKind>>> = {
  listApiKeys: { id: "apiKey" },
  createApiKey: { id: "apiKey" },
  listSessions: { id: "session" },
  evaluate: { id: "result" },
  searchEvaluationResults: { id: "result" },
  importEvaluationResults: { id: "result" },
  createEvaluatorProfile: { public_id: "profile", name: "profileName" },
  reviseEvaluatorProfile: { public_id: "profile" },
  listEvaluatorProfiles: { public_id: "profile", name: "profileName" },
  createErrorTaxonomyRevision: { id: "revision", error_taxonomy_id: "taxonomy" },
  startEpisode: { episode_id: "episode" },
  makeOrsSession: { task_id: "orsSession" },
  callOrsTool: { task_id: "orsTask" },
  callOrsToolWithoutPath: { task_id: "orsTask" },
  listErrorTaxonomyRevisions: { id: "revision", error_taxonomy_id: "taxonomy" },
};

export function createKnownObjects(): KnownObjects {
  const byKind = new Map<ReferenceKind, string[]>();
  const owners = new Map<string, string>();
  const madeKeys: MadeKey[] = [];
  const protectedIds = new Set<string>();

  function keep(kind: ReferenceKind, id: string, owner: string | undefined): void {
    if (protectedIds.has(id)) return;
    const ids = byKind.get(kind) ?? [];
    byKind.set(kind, ids);
    if (ids.includes(id)) return;
    ids.push(id);
    if (ids.length > kept) owners.delete(ids.shift() ?? "");
    if (owner !== undefined && kind !== "profileName") owners.set(id, owner);
  }

  function learnFrom(value: unknown, fields: Partial<Record<string, ReferenceKind>>, owner: string): void {
    if (typeof value !== "object" || value === null) return;
    const isBuiltInProfile = "is_managed" in value && value.is_managed === true;
    const isBuiltInTaxonomy =
      "error_taxonomy_name" in value && String(value.error_taxonomy_name).startsWith(builtInPrefix);
    for (const [name, part] of Object.entries(value)) {
      const kind = fields[name];
      if (kind !== undefined && typeof part === "string" && part !== "") {
        keep(kind, part, isBuiltInProfile || isBuiltInTaxonomy ? undefined : owner);
      } else learnFrom(part, fields, owner);
    }
  }

  return {
    learn({ id }, response, owner) {
      const fields = sources[id];
      if (fields !== undefined) learnFrom(response, fields, owner);
      if (id !== "createApiKey" || typeof response !== "object" || response === null) return;
      if ("key" in response && typeof response.key === "string") madeKeys.push({ key: response.key, owner });
      if (madeKeys.length > kept) madeKeys.shift();
    },
    find(kind, number) {
      const ids = byKind.get(kind) ?? [];
      return ids[number % ids.length] ?? (kind === "result" ? String(number) : crypto.randomUUID());
    },
    ownerOf: (id) => owners.get(id),
    madeKey: (number) => madeKeys[number % madeKeys.length],
    protect: (id) => void protectedIds.add(id),
  };
}
