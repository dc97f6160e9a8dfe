import type { Model } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import { Cpu, FlaskConical } from "lucide-react";
import { useId } from "react";
import { usePresage } from "../../data/client.ts";
import { deploymentsQuery, isSandbox, modelsQuery, useTabState } from "../../data/predictions.ts";
import { referenceOf, worldsQuery } from "../../data/worlds.ts";
import { answererOf } from "../../parts/worlds.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/form/select.tsx";
import { Page } from "../../ui/page.tsx";
import { Playground } from "./playground.tsx";

const hint = "Write a state and an action, see the exact prompt, and predict what comes next.";

export const playgroundRoute = createLazyRoute("/playground")({ component: PlaygroundPage });

function PlaygroundPage() {
  const presage = usePresage();
  const id = useId();
  const models = useQuery(modelsQuery(presage));
  const { data: deployments = [] } = useQuery(deploymentsQuery(presage));
  const [chosenName, choose] = useTabState("playground deployment", "");
  const { data: worlds = [], isSuccess } = useQuery(worldsQuery(presage));
  // A replayed prediction also names the revision.
  const [wanted, chooseWorld] = useTabState("playground world", "");
  const world = worlds.find(({ name }) => name === wanted.split("@")[0]);
  const isOther = world !== undefined && wanted.includes("@") && wanted !== referenceOf(world);
  const first = models.data?.[0];
  // With several deployments, the models in the list begin with the deployments' names.
  const isChoice = deployments.length > 1;
  const byDefault = deployments.find(({ is_default }) => is_default);
  const asked = deployments.find(({ name }) => name === chosenName) ?? byDefault;
  const answerers = [
    ...(isChoice
      ? deployments.map(({ name, model }) => ({
          value: `model ${name}`,
          label: model === null ? name : `${name}: ${model}`,
        }))
      : [{ value: "model ", label: nameOf(first, models.isError) }]),
    ...worlds.map(({ name, revision }) => ({ value: `world ${name}`, label: `World ${name}@${revision}` })),
  ];
  return (
    <Page
      title="Playground"
      hint={
        world !== undefined ? (
          <>
            <Link
              to="/worlds/$name"
              params={{ name: world.name }}
              className="text-accent-ink underline-offset-2 hover:underline"
            >
              {world.name}@{world.revision}
            </Link>{" "}
            answers by {answererOf(world.config)}.{isOther && ` ${wanted} answered before.`}
          </>
        ) : first !== undefined && isSandbox(first) ? (
          <SandboxHint hasWorld={worlds.length > 0} />
        ) : (
          hint
        )
      }
      actions={
        answerers.length > 1 ? (
          <div className="flex min-w-0 items-center gap-2 text-sm text-ink-2">
            <label htmlFor={id}>Answered by</label>
            <Select
              id={id}
              className="max-w-64"
              value={world === undefined ? `model ${isChoice ? asked?.name : ""}` : `world ${world.name}`}
              options={answerers}
              onChange={(value) => {
                const name = value.slice("world ".length);
                const isWorld = value.startsWith("world ");
                chooseWorld(() => (isWorld ? name : ""));
                if (!isWorld) choose(() => name);
              }}
            />
          </div>
        ) : (
          <ModelNote model={first} isUnknown={models.isError} />
        )
      }
      isFull
    >
      {wanted !== "" && world === undefined && isSuccess && (
        <p role="alert" className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-warn">
          There is no world {wanted.split("@")[0]} any more.
          <Button size="small" onClick={() => chooseWorld(() => "")}>
            Ask without it
          </Button>
        </p>
      )}
      <Playground
        isUnknown={wanted !== "" && world === undefined}
        model={isChoice ? (asked?.model ?? undefined) : first?.id}
        deployment={isChoice && asked !== byDefault ? asked?.name : undefined}
        world={world}
      />
    </Page>
  );
}

/** Suggests a world: without a model, the account’s own records give better answers. */
function SandboxHint({ hasWorld }: { hasWorld: boolean }) {
  return (
    <>
      No model is configured: the built-in sandbox, a rule-based simulator, predicts.{" "}
      {!hasWorld && (
        <Link to="/worlds" className="text-accent-ink underline-offset-2 hover:underline">
          A world answers from recorded steps instead.
        </Link>
      )}
    </>
  );
}

function nameOf(model: Model | undefined, isUnknown: boolean): string {
  if (model === undefined) return isUnknown ? "Model unknown" : "Model";
  return isSandbox(model) ? "Sandbox" : model.id;
}

function ModelNote({ model, isUnknown }: { model: Model | undefined; isUnknown: boolean }) {
  if (model === undefined && !isUnknown) return null;
  const isModel = model !== undefined && !isSandbox(model);
  const Icon = isModel ? Cpu : FlaskConical;
  return (
    <Badge tone={isModel ? "neutral" : "warn"} icon={model && <Icon aria-hidden />}>
      {nameOf(model, isUnknown)}
    </Badge>
  );
}
