import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Document, Operation } from "./read-document.ts";
import type { Schema } from "./schema.ts";

/** Says what is wrong with a JSON value, in a way that is the same for the same fault; undefined if nothing is. */
export type FindFault = (value: unknown) => string | undefined;

export interface AnswerSchemas {
  /** Of an answer with this status; undefined where the document describes no JSON. */
  of(operation: Operation, status: number): FindFault | undefined;
  /** Of a component, by its name. */
  named(name: string): FindFault;
}

const documentId = "presage";

/** Compiles the schemas of all answers. */
export function compileAnswers({ operations, schemas }: Document): AnswerSchemas {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: documentId, components: { schemas } });
  const faultIn =
    (validate: ValidateFunction): FindFault =>
    (value) => {
      if (validate(value)) return undefined;
      const [fault] = validate.errors ?? [];
      // Without the numbers of items, which differ from answer to answer.
      const place = (fault?.instancePath ?? "").replace(/\/\d+(?=\/|$)/g, "/*");
      return `${place || "/"} ${fault?.message} (${fault?.schemaPath.split("/components/").at(-1)})`;
    };
  const compile = (schema: Schema) => faultIn(ajv.compile(withAbsoluteReferences(schema)));
  const named = new Map(Object.keys(schemas).map((name) => [name, compile(referenceTo(name))]));
  const byAnswer = new Map<string, FindFault>();
  for (const { id, answers } of operations) {
    for (const [status, { content }] of Object.entries(answers)) {
      const schema = content?.["application/json"]?.schema;
      if (schema !== undefined) byAnswer.set(`${id} ${status}`, compile(schema));
    }
  }
  return {
    of: ({ id }, status) => byAnswer.get(`${id} ${status}`),
    named(name) {
      const found = named.get(name);
      if (found === undefined) throw new Error(`The document has no schema ${name}.`);
      return found;
    },
  };
}

function referenceTo(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** References in the document are relative to its root, of which a schema that is compiled alone knows nothing. */
function withAbsoluteReferences(schema: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${documentId}#/`);
  return JSON.parse(text);
}
