import type { Operation } from "../document/read-document.ts";
import type { ReferenceKind } from "../generate/references.ts";

export interface MadeKey {
  key: string;
  /** Whose account asked for it. */
  owner: string;
}

/** What answers told so far. */
export interface KnownThings {
  /** Keeps what an answer tells, for later requests. `owner` is whose account asked. */
  learn(operation: Operation, answer: unknown, owner: string): void;
  find(kind: ReferenceKind, number: number): string;
  /** Whose a thing is; undefined where nobody knows, or everybody may have it. */
  ownerOf(id: string): string | undefined;
  /** A key that a request made. */
  madeKey(number: number): MadeKey | undefined;
  /** Is never handed out: the fuzz itself needs it. */
  protect(id: string): void;
}

/** Of each kind the latest. */
const kept = 500;
/** Names of taxonomies that come with Presage, and which every account has, begin with it. */
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
  listErrorTaxonomyRevisions: { id: "revision", error_taxonomy_id: "taxonomy" },
};

export function createKnownThings(): KnownThings {
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
    const isEverybodys = "is_managed" in value && value.is_managed === true;
    const isBuiltIn =
      "error_taxonomy_name" in value && String(value.error_taxonomy_name).startsWith(builtInPrefix);
    for (const [name, part] of Object.entries(value)) {
      const kind = fields[name];
      if (kind !== undefined && typeof part === "string" && part !== "") {
        keep(kind, part, isEverybodys || isBuiltIn ? undefined : owner);
      } else learnFrom(part, fields, owner);
    }
  }

  return {
    learn({ id }, answer, owner) {
      const fields = sources[id];
      if (fields !== undefined) learnFrom(answer, fields, owner);
      if (id !== "createApiKey" || typeof answer !== "object" || answer === null) return;
      if ("key" in answer && typeof answer.key === "string") madeKeys.push({ key: answer.key, owner });
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
