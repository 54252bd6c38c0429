// A box that shows what comes to its end, unless the reader has scrolled up.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

const kNearEnd = 60; // px

// `begins_anew`: when it changes, the end is followed again.
export function use_following(begins_anew) {
  const box = useRef(null);
  const follows = useRef(true);
  const sizes = useRef(null); // of what is in the box, which may also grow when it has been drawn
  const to_the_end = () => {
    if (follows.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  useLayoutEffect(() => {
    to_the_end();
    sizes.current ??= new ResizeObserver(to_the_end);
    for (const child of box.current?.children ?? []) sizes.current.observe(child);
  });
  useEffect(() => () => sizes.current?.disconnect(), []);
  useEffect(() => {
    follows.current = true;
  }, [begins_anew]);
  const on_scroll = ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
    follows.current = scrollHeight - scrollTop - clientHeight < kNearEnd;
  };
  return { box, on_scroll };
}
