import type { z } from "zod";
import { readJsonBody } from "./read-json-body.ts";
import { requestAddress } from "./request-address.ts";
import type { Call } from "./route.ts";
import { usesOldNames } from "./uses-old-names.ts";
import { validate } from "./validation.ts";

/** A request's body, checked. Without a body it is undefined, where the schema takes that. */
export async function readBody<Schema extends z.ZodType>(
  { request, exchange }: Call,
  schema: Schema,
  maxBodyBytes: number,
): Promise<z.input<Schema>> {
  const body = await readJsonBody(request, maxBodyBytes);
  exchange.usesOldNames = usesOldNames(schema, body);
  return validate(schema, body, "body");
}

/** A request's query, checked. Of a name that is there twice the last one counts. */
export function readQuery<Schema extends z.ZodType>(
  { request, exchange }: Call,
  schema: Schema,
): z.input<Schema> {
  const query = Object.fromEntries(requestAddress(request).searchParams);
  exchange.usesOldNames = usesOldNames(schema, query);
  return validate(schema, query, "query");
}

/** The parameters in a request's path, checked. */
export function readPath<Schema extends z.ZodType>({ request }: Call, schema: Schema): z.input<Schema> {
  return validate(schema, request.params, "path");
}
