// @ts-check
// Sight: charts that nobody sees follow a moment later, so that a slider costs what is in sight.

const SIGHT_MARGIN = "120px"; // charts this near to the window count as seen
const SIGHT_PAUSE = 150; // milliseconds without a change, after which the others follow

/**
 * Keep charts up to date: those in sight at once, the others after a pause or when they come into sight.
 * `latest` gives the view that holds when they are drawn.
 */
export function createSight(charts, latest) {
  const hidden = new Set();
  const behind = new Set();
  let timer = null;
  const draw = (name) => {
    behind.delete(name);
    charts[name].update(latest());
  };
  const flush = () => {
    clearTimeout(timer);
    timer = null;
    [...behind].forEach(draw);
  };
  const names = new Map(Object.entries(charts).map(([name, chart]) => [chart.element, name]));
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const name = names.get(target);
      if (!isIntersecting) {
        hidden.add(name);
      } else {
        hidden.delete(name);
        if (behind.has(name)) {
          draw(name);
        }
      }
    }
  }, { rootMargin: SIGHT_MARGIN });
  [...names.keys()].forEach((element) => observer.observe(element));
  return {
    flush,
    update: (name) => {
      if (!charts[name]) {
        return;
      }
      if (hidden.has(name)) {
        behind.add(name);
        clearTimeout(timer);
        timer = setTimeout(flush, SIGHT_PAUSE);
      } else {
        draw(name);
      }
    },
  };
}
