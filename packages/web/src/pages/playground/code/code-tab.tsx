import { useState } from "react";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { Segmented } from "../../../ui/form/segmented.tsx";
import { type ProgramInput, programs } from "./programs.ts";

type Program = (typeof programs)[number]["value"];

export function CodeTab({ input }: { input: ProgramInput }) {
  const [chosen, setChosen] = useState<Program>("curl");
  const { label, language, write } = programs.find(({ value }) => value === chosen) ?? programs[0];
  return (
    <div className="flex flex-col gap-3 p-4">
      <div className="overflow-x-auto">
        <Segmented label="Language" value={chosen} options={programs} onChange={(next) => setChosen(next)} />
      </div>
      <CodeBlock code={write(input)} label={label} language={language} />
      <p className="text-xs text-ink-3">
        The key comes from the environment variable <code className="font-mono">PRESAGE_API_KEY</code>. The
        request is the current input.
      </p>
    </div>
  );
}
