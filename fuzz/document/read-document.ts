import { openRewardStandardPaths } from "./open-reward-standard.ts";
import type { Schema, Schemas } from "./schema.ts";

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: Schema;
}

export interface DocumentedResponse {
  content?: Record<string, { schema?: Schema }>;
}

/** One method of one path. */
export interface Operation {
  id: string;
  method: string;
  /** With parameters as `{name}`. */
  path: string;
  isOpen: boolean;
  parameters: Parameter[];
  body: Schema | undefined;
  /** A body that can be sent as it is. */
  bodyExample: unknown;
  /** By status. */
  responses: Record<string, DocumentedResponse>;
}

export interface Document {
  operations: Operation[];
  schemas: Schemas;
}

export interface RawOperation {
  operationId: string;
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, DocumentedResponse>;
}

interface RawDocument {
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Schemas };
}

/** Reads a server's `/openapi.json`. The paths of the Open Reward Standard, which it does not have, are added. */
export async function readDocument(url: string): Promise<Document> {
  return listOperations((await (await fetch(`${url}/openapi.json`)).json()) as RawDocument);
}

export function listOperations({ paths, components }: RawDocument): Document {
  // One line of JSON lines is JSON too.
  const contentOf = ({ requestBody }: RawOperation) => Object.values(requestBody?.content ?? {})[0];
  const all = { ...paths, ...openRewardStandardPaths() };
  const operations = Object.entries(all).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => ({
      id: raw.operationId,
      method: method.toUpperCase(),
      path,
      isOpen: raw.security?.length === 0,
      parameters: raw.parameters ?? [],
      body: contentOf(raw)?.schema,
      bodyExample: contentOf(raw)?.example,
      responses: raw.responses,
    })),
  );
  return { operations, schemas: components.schemas };
}
