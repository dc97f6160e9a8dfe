import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Document, Operation } from "./read-document.ts";
import type { Schema } from "./schema.ts";

/** Describes what is wrong with a JSON value, or returns undefined. Equal violations have equal descriptions. */
export type FindViolation = (value: unknown) => string | undefined;

export interface ResponseSchemas {
  /** For a response with this status; undefined if the document describes no JSON. */
  of(operation: Operation, status: number): FindViolation | undefined;
  /** For a component, by its name. */
  named(name: string): FindViolation;
}

const documentId = "presage";

/** Compiles the schemas of all responses. */
export function compileResponseSchemas({ schemas }: Document): ResponseSchemas {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: documentId, components: { schemas } });
  const violationIn =
    (validate: ValidateFunction): FindViolation =>
    (value) => {
      if (validate(value)) return undefined;
      const [violation] = validate.errors ?? [];
      // Without indexes, which differ between responses.
      const place = (violation?.instancePath ?? "").replace(/\/\d+(?=\/|$)/g, "/*");
      return `${place || "/"} ${violation?.message} (${violation?.schemaPath.split("/components/").at(-1)})`;
    };
  const compiled = new Map<string, FindViolation>();
  // Compiling all schemas takes a second; a short run only needs a few.
  function compileOnce(name: string, schema: Schema): FindViolation {
    const found = compiled.get(name) ?? violationIn(ajv.compile(withAbsoluteReferences(schema)));
    compiled.set(name, found);
    return found;
  }
  return {
    of({ id, responses }, status) {
      const schema = responses[String(status)]?.content?.["application/json"]?.schema;
      return schema === undefined ? undefined : compileOnce(`${id} ${status}`, schema);
    },
    named: (name) => compileOnce(name, referenceTo(name)),
  };
}

function referenceTo(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** References in the document are relative to its root, which a schema compiled by itself does not have. */
function withAbsoluteReferences(schema: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${documentId}#/`);
  return JSON.parse(text);
}
