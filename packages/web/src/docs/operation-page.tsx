import { clsx } from "clsx";
import { type ReactNode, useId } from "react";
import { buttonClass } from "../ui/button.tsx";
import { Fold } from "../ui/card.tsx";
import { WithCode } from "../ui/code/code-block.tsx";
import { controlLook, TextArea, TextInput } from "../ui/form/inputs.tsx";
import { type Field, type Form, fieldOf, formsOf } from "./fields.ts";
import {
  exampleText,
  mainContent,
  type OpenApi,
  type Operation,
  type Parameter,
  type ResponseOf,
} from "./openapi.ts";
import { Box, Code, Heading, Method, Sentence } from "./parts.tsx";
import { languages, snippetsOf } from "./snippets.ts";

type Schemas = OpenApi["components"]["schemas"];

/** One operation: its parameters and responses on the left, the same as code on the right. */
export function OperationPage({
  operation,
  task,
  schemas,
}: {
  operation: Operation;
  task: string;
  schemas: Schemas;
}) {
  const { method, path, summary, description, responses } = operation;
  const statuses = Object.entries(responses);
  const successes = statuses.filter(([status]) => status < "400");
  return (
    <article className="mx-auto grid max-w-7xl gap-x-12 px-4 py-6 md:px-8 lg:py-8 xl:grid-cols-[minmax(0,1fr)_minmax(0,28rem)] xl:grid-rows-[auto_1fr]">
      <header className="mb-6 flex min-w-0 flex-col gap-2">
        <p className="text-xs font-medium text-accent-ink">{task}</p>
        <h1 className="text-2xl font-semibold tracking-tight">{summary}</h1>
        <p className="flex flex-wrap items-baseline gap-2 font-mono text-sm wrap-anywhere">
          <Method method={method} /> {path}
        </p>
        <Sentence text={description} />
      </header>
      <aside
        aria-label="Code"
        className="flex min-w-0 flex-col gap-4 self-start *:shrink-0 xl:sticky xl:top-8 xl:row-span-2 xl:max-h-[calc(100dvh-4rem)] xl:overflow-y-auto"
      >
        <Snippets operation={operation} />
        <TryOut operation={operation} />
        {successes.map(([status, response]) => (
          <Example key={status} status={status} response={response} />
        ))}
      </aside>
      <div className="min-w-0">
        <Parameters places={["path", "query"]} operation={operation} schemas={schemas} />
        <Body operation={operation} schemas={schemas} />
        <Parameters places={["header"]} operation={operation} schemas={schemas} />
        {successes.map(([status, response]) => (
          <Success key={status} status={status} response={response} schemas={schemas} />
        ))}
        <Heading id="errors">Errors</Heading>
        <div className="flex flex-col gap-2">
          {statuses
            .filter((one) => !successes.includes(one))
            .map(([status, response]) => (
              <Failure key={status} status={status} response={response} />
            ))}
        </div>
      </div>
    </article>
  );
}

export function Snippets({ operation }: { operation: Operation }) {
  const snippets = snippetsOf(operation);
  return (
    <Box
      title={
        <div role="tablist" aria-label="Language" className="flex gap-4">
          {languages.map(({ id, label }, index) => (
            <button
              key={id}
              type="button"
              role="tab"
              id={`tab-${id}`}
              data-language={id}
              aria-controls={`code-${id}`}
              aria-selected={index === 0}
              tabIndex={index === 0 ? 0 : -1}
              className="-mb-px border-b-2 border-transparent py-2 font-medium text-ink-2 -outline-offset-2 hover:text-ink aria-selected:border-accent aria-selected:text-ink"
            >
              {label}
            </button>
          ))}
        </div>
      }
    >
      {languages.map(({ id, label }, index) => (
        <div key={id} role="tabpanel" id={`code-${id}`} aria-labelledby={`tab-${id}`} hidden={index > 0}>
          <Code code={snippets[id]} label={`the code in ${label}`} language={id} />
        </div>
      ))}
    </Box>
  );
}

export function Example({
  status,
  response: { content, description },
}: {
  status: string;
  response: ResponseOf;
}) {
  const shown = mainContent(content);
  const code = shown && exampleText(shown);
  if (shown === undefined || !code) return null;
  return (
    <Box
      title={
        <h2 className="py-2 font-medium text-ink-2">
          Response {status} <span className="sr-only">{description}</span>
        </h2>
      }
    >
      <Code code={code} label="the response" language={shown.type.includes("json") ? "json" : undefined} />
    </Box>
  );
}

const titles = { path: "Path", query: "Query", header: "Headers" };

interface ParametersProps {
  places: readonly Parameter["in"][];
  operation: Operation;
  schemas: Schemas;
}

function Parameters({ places, operation: { parameters = [] }, schemas }: ParametersProps) {
  return places.map((place) => {
    const fields = parameters
      .filter((one) => one.in === place)
      .map(({ name, schema, required, description, deprecated = false }) => ({
        ...fieldOf(schemas, name, schema, required ?? false),
        ...(description !== undefined && { description }),
        isDeprecated: deprecated,
      }));
    if (fields.length === 0) return null;
    return (
      <section key={place}>
        <Heading id={place}>{titles[place]}</Heading>
        <Fields fields={fields} prefix={place} />
      </section>
    );
  });
}

function Body({ operation: { requestBody }, schemas }: { operation: Operation; schemas: Schemas }) {
  if (requestBody === undefined) return null;
  const others = Object.keys(requestBody.content);
  const shown = mainContent(requestBody.content);
  if (shown === undefined) return null;
  return (
    <section>
      <Heading id="body">Body{requestBody.required === false ? ", optional" : ""}</Heading>
      {requestBody.description !== undefined && <Sentence text={requestBody.description} />}
      {(others.length > 1 || shown.type !== "application/json") && (
        <Sentence isQuiet text={`As ${others.map((type) => `\`${type}\``).join(", ")}.`} />
      )}
      <Forms forms={formsOf(schemas, shown.schema)} prefix="body" />
    </section>
  );
}

interface ResponseProps {
  status: string;
  response: ResponseOf;
}

function Success({ status, response, schemas }: ResponseProps & { schemas: Schemas }) {
  const { description, headers = {}, content } = response;
  const shown = mainContent(content);
  return (
    <section>
      <Heading id={`status-${status}`}>Response {status}</Heading>
      <Sentence text={`${description}.`} />
      <Headers headers={headers} />
      {shown && <Forms forms={formsOf(schemas, shown.schema)} prefix="response" />}
    </section>
  );
}

function Failure({ status, response: { description, headers = {}, content } }: ResponseProps) {
  const shown = mainContent(content);
  return (
    <div id={`status-${status}`} className="scroll-mt-16 lg:scroll-mt-6">
      <Fold
        title={<code className="font-mono text-xs">{status}</code>}
        note={<WithCode text={description} />}
      >
        <Headers headers={headers} />
        {shown && (
          <div className="rounded-md bg-sunken">
            <Code code={exampleText(shown)} label={`the response ${status}`} language="json" />
          </div>
        )}
      </Fold>
    </div>
  );
}

function Headers({ headers }: { headers: NonNullable<ResponseOf["headers"]> }) {
  return Object.entries(headers).map(([name, { description = "" }]) => (
    <p key={name} className="mt-1 text-xs text-ink-3">
      Header <code className="font-mono text-ink-2">{name}</code>: <WithCode text={description} />
    </p>
  ));
}

function Forms({ forms, prefix }: { forms: Form[]; prefix: string }) {
  if (forms.length === 1) return <Fields fields={forms[0]?.fields ?? []} prefix={prefix} />;
  return (
    <div className="mt-2 flex flex-col gap-2">
      {forms.map(({ title = "", fields }, index) => (
        <Fold key={title} title={<WithCode text={`Form ${title}`} />}>
          <Fields fields={fields} prefix={`${prefix}-${index + 1}`} />
        </Fold>
      ))}
    </div>
  );
}

function Fields({ fields, prefix }: { fields: Field[]; prefix: string }) {
  const isSent = !prefix.startsWith("response");
  const shown = isSent ? fields.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired)) : fields;
  return (
    <ul className="divide-y divide-line">
      {shown.map(({ name, type, isRequired, isDeprecated, description, notes, forms }) => (
        <li
          key={name}
          id={`${prefix}.${name}`}
          className="flex min-w-0 scroll-mt-16 flex-col gap-1 py-3 lg:scroll-mt-6"
        >
          <div className="flex flex-wrap items-baseline gap-x-2">
            {/* Skipped by the keyboard, which would otherwise stop at each field. */}
            <a href={`#${prefix}.${name}`} tabIndex={-1} className="hover:underline">
              <code className="font-mono text-sm font-semibold wrap-anywhere">{name}</code>
            </a>
            <span className="text-xs text-ink-3">{type}</span>
            {isRequired && isSent && <span className="text-xs font-medium text-warn">required</span>}
            {isDeprecated && <span className="text-xs font-medium text-fail">deprecated</span>}
          </div>
          {description !== undefined && <Sentence text={description} />}
          {notes.length > 0 && <Sentence isQuiet text={notes.join(" · ")} />}
          {forms.map((form, index) => (
            <Fold
              key={form.title ?? name}
              title={`Fields of ${name}`}
              note={form.title && <WithCode text={form.title} />}
              isOpen={isRequired && isSent && form.title === undefined}
            >
              <Fields
                fields={form.fields}
                prefix={`${prefix}.${name}${index === 0 ? "" : `-${index + 1}`}`}
              />
            </Fold>
          ))}
        </li>
      ))}
    </ul>
  );
}

/** A form that sends the request. `try-out.ts` reads the names of its controls: a place and a name. */
function TryOut({ operation }: { operation: Operation }) {
  const { method, path, parameters = [], requestBody, security } = operation;
  const body = mainContent(requestBody?.content);
  const needed = parameters.filter(({ required }) => required);
  const others = parameters.filter(({ required }) => !required);
  return (
    <Fold title="Try it" note="Sends a real request to this server">
      <form data-try="" data-method={method} data-path={path} className="flex flex-col gap-3">
        {security?.length !== 0 && (
          <Labelled label="API key">
            {(id) => <TextInput id={id} type="password" name="key" placeholder="Stays in this tab" />}
          </Labelled>
        )}
        {needed.map((one) => (
          <ParameterInput key={`${one.in} ${one.name}`} parameter={one} />
        ))}
        {others.length > 0 && (
          <Fold title="Optional parameters" note={others.length}>
            {others.map((one) => (
              <ParameterInput key={`${one.in} ${one.name}`} parameter={one} />
            ))}
          </Fold>
        )}
        {body !== undefined && (
          <Labelled label="Body">
            {(id) => <TextArea id={id} name="body" data-type={body.type} defaultValue={exampleText(body)} />}
          </Labelled>
        )}
        <button
          type="submit"
          className={clsx(buttonClass({ variant: method === "DELETE" ? "danger" : "primary" }), "self-start")}
        >
          Send
        </button>
        <p role="status" className="text-sm font-medium" />
        <div data-answer="" className="flex min-w-0 flex-col gap-2" />
      </form>
    </Fold>
  );
}

function ParameterInput({ parameter: { name, in: place, required, schema } }: { parameter: Parameter }) {
  const control = { name: `${place} ${name}`, required };
  return (
    <Labelled label={name}>
      {(id) =>
        schema.enum === undefined ? (
          <TextInput id={id} {...control} />
        ) : (
          <select id={id} {...control} className={clsx(controlLook, "h-8.5 px-2")}>
            <option value="">{required ? "Choose …" : "Not sent"}</option>
            {schema.enum.map((value) => (
              <option key={String(value)}>{String(value)}</option>
            ))}
          </select>
        )
      }
    </Labelled>
  );
}

function Labelled({ label, children }: { label: string; children(id: string): ReactNode }) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-xs font-medium">
        {label}
      </label>
      {children(id)}
    </div>
  );
}
