import { clsx } from "clsx";
import {
  cloneElement,
  createContext,
  type HTMLAttributes,
  type ReactElement,
  type ReactNode,
  use,
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { createPortal } from "react-dom";

/** The `tabIndex` of controls in a table that is one stop for Tab: arrow keys reach them. */
export const ControlTabIndex = createContext<-1 | undefined>(undefined);

type Control = ReactElement<HTMLAttributes<HTMLElement>>;

/** The delay before a tooltip opens under the pointer; none if another one was open within `skipDelayMs`. */
const delayMs = 400;
const skipDelayMs = 300;
/** The time that the pointer has to move from the control to the text. */
const graceMs = 120;

/** Closes the tooltip that is open: at most one is. */
let closeOpen: (() => void) | undefined;
let closedAtMs = Number.NEGATIVE_INFINITY;

interface TooltipProps {
  text: ReactNode;
  /** The child exists only for the text, so pressing it shows and hides the text: a finger cannot hover. */
  isPressable?: boolean;
  /** One element that takes events. */
  children: Control;
}

/** Shown while the child is hovered or focused. */
export function Tooltip({ text, isPressable = false, children }: TooltipProps) {
  const [anchor, setAnchor] = useState<HTMLElement>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isPressed = useRef(false);
  const wasOpen = useRef(false);
  const id = useId();
  const { props } = children;

  function close(): void {
    clearTimeout(timer.current);
    timer.current = undefined;
    setAnchor(undefined);
  }
  function open(control: HTMLElement): void {
    clearTimeout(timer.current);
    setAnchor(control);
  }
  function openLater(control: HTMLElement): void {
    if (anchor !== undefined) clearTimeout(timer.current);
    else if (performance.now() - closedAtMs < skipDelayMs) open(control);
    else timer.current ??= setTimeout(open, delayMs, control);
  }
  function closeLater(): void {
    clearTimeout(timer.current);
    timer.current = anchor && setTimeout(close, graceMs);
  }
  useEffect(() => () => clearTimeout(timer.current), []);

  return (
    <>
      {cloneElement(children, {
        ...(anchor !== undefined && { "aria-describedby": id }),
        onPointerMove: both(props.onPointerMove, ({ pointerType, currentTarget }) => {
          if (pointerType !== "touch" && !isPressed.current) openLater(currentTarget);
        }),
        onPointerLeave: both(props.onPointerLeave, () => {
          isPressed.current = false;
          closeLater();
        }),
        onPointerDown: both(props.onPointerDown, () => {
          isPressed.current = true;
          wasOpen.current = anchor !== undefined;
          close();
        }),
        onClick: both(props.onClick, ({ currentTarget }) =>
          isPressable && !wasOpen.current ? open(currentTarget) : close(),
        ),
        onFocus: both(props.onFocus, ({ currentTarget }) => !isPressed.current && open(currentTarget)),
        onBlur: both(props.onBlur, () => {
          isPressed.current = false;
          close();
        }),
      })}
      {anchor !== undefined && (
        <Bubble id={id} anchor={anchor} onClose={close} onEnter={() => clearTimeout(timer.current)}>
          {text}
        </Bubble>
      )}
    </>
  );
}

function both<Of>(own: ((event: Of) => void) | undefined, added: (event: Of) => void) {
  return (event: Of) => {
    own?.(event);
    added(event);
  };
}

interface BubbleProps {
  id: string;
  anchor: HTMLElement;
  onClose(): void;
  /** Called when the pointer reaches the bubble. */
  onEnter(): void;
  children: ReactNode;
}

/** The space between the bubble and its control, and between the bubble and the edge of the window, in pixels. */
const [gap, margin] = [6, 8];

function Bubble({ id, anchor, onClose, onEnter, children }: BubbleProps) {
  const bubble = useRef<HTMLDivElement>(null);
  const close = useEffectEvent(onClose);
  useLayoutEffect(() => {
    if (bubble.current === null) return;
    const { top, bottom, left, width } = anchor.getBoundingClientRect();
    const { offsetWidth, offsetHeight, style } = bubble.current;
    const above = top - gap - offsetHeight;
    const most = innerWidth - offsetWidth - margin;
    style.top = `${above < margin ? bottom + gap : above}px`;
    style.left = `${Math.max(margin, Math.min(left + (width - offsetWidth) / 2, most))}px`;
  });
  useEffect(() => {
    const closeThis = () => close();
    // Runs before the key reaches a dialog, which would close as well.
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      closeThis();
    };
    const onScroll = ({ target }: Event) => target instanceof Node && target.contains(anchor) && closeThis();
    closeOpen?.();
    closeOpen = closeThis;
    addEventListener("keydown", onKeyDown, true);
    addEventListener("scroll", onScroll, true);
    return () => {
      if (closeOpen === closeThis) closeOpen = undefined;
      closedAtMs = performance.now();
      removeEventListener("keydown", onKeyDown, true);
      removeEventListener("scroll", onScroll, true);
    };
  }, [anchor]);
  return createPortal(
    <div
      ref={bubble}
      id={id}
      role="tooltip"
      onPointerEnter={onEnter}
      onPointerLeave={onClose}
      onPointerDown={(event) => event.stopPropagation()}
      className="pointer-events-auto fixed top-0 left-0 z-50 w-max max-w-80 rounded-md bg-ink px-2 py-1 text-xs text-canvas shadow-float print:hidden"
    >
      {children}
    </div>,
    document.body,
  );
}

/** A `Tooltip` whose text may be absent. */
export function Hinted({ text, children }: { text: string | undefined; children: Control }) {
  return text === undefined ? children : <Tooltip text={text}>{children}</Tooltip>;
}

interface ExplainedProps {
  /** What the figure is and what it counts. Absent: nothing is added. */
  text: ReactNode;
  className?: string;
  children: ReactNode;
}

/** A figure that is explained on hover and on focus. */
export function Explained({ text, className, children }: ExplainedProps) {
  const tabIndex = use(ControlTabIndex) ?? 0;
  if (text === undefined) return <span className={className}>{children}</span>;
  return (
    <Tooltip text={text} isPressable>
      <span tabIndex={tabIndex} className={clsx("cursor-help rounded-sm", className)}>
        {children}
      </span>
    </Tooltip>
  );
}

/** A name that is explained on hover and on focus. */
export function ExplainedName({ name, explanation }: { name: string; explanation: string | undefined }) {
  const tabIndex = use(ControlTabIndex);
  if (explanation === undefined) return name;
  return (
    <Tooltip text={explanation} isPressable>
      <button
        type="button"
        tabIndex={tabIndex}
        className="cursor-help [text-align:inherit] font-medium underline decoration-dotted underline-offset-3 print:no-underline"
      >
        {name}
      </button>
    </Tooltip>
  );
}
