import { CircleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { formatCount } from "../../../format/format-number.ts";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import { readLineOf, readWrongLine } from "./wrong-line.ts";

/** Why a file was refused: the line by its number, with what stands there. */
export function UploadProblem({ error, file }: { error: unknown; file: File | undefined }) {
  const wrong = readWrongLine(error);
  const text = useLine(file, wrong?.line);
  if (wrong === undefined) return <ErrorNotice error={error} />;
  return (
    <div
      role="alert"
      className="flex flex-col gap-2 rounded-lg border border-fail/30 bg-fail-soft p-3 text-sm"
    >
      <p className="flex items-start gap-2 font-medium text-fail">
        <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
        <span>
          Line {formatCount(wrong.line)}
          {wrong.field !== "" && (
            <>
              , <code className="font-mono text-xs">{wrong.field}</code>
            </>
          )}
          : {wrong.reason}
        </span>
      </p>
      <p className="text-ink-2">
        Nothing of the file was kept. It is read up to the first wrong line, so there may be others behind it.
      </p>
      {text !== undefined && <PlainText text={text} label={`Line ${formatCount(wrong.line)}`} />}
    </div>
  );
}

function useLine(file: File | undefined, line: number | undefined): string | undefined {
  const [text, setText] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    setText(undefined);
    if (file !== undefined && line !== undefined)
      void readLineOf(file, line).then((found) => isCurrent && setText(found));
    return () => {
      isCurrent = false;
    };
  }, [file, line]);
  return text;
}
