// The contrast of each text, as painted: colour and backgrounds under the opacity of all parents.
(selectors) => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const channels = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const paint = (colour, opacity, under) => {
    const painted = channels(colour), share = (painted[3] / 255) * opacity;
    return under.map((one, place) => painted[place] * share + one * (1 - share));
  };
  const linear = (one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
  const luminance = (colour) => {
    const [red, green, blue] = colour.map((one) => linear(one / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (selector) => {
    const text = document.querySelector(selector);
    if (!text) return null; // gone: the page was drawn again meanwhile
    const parents = [];
    for (let one = text; one; one = one.parentElement) parents.unshift(getComputedStyle(one));
    let opacity = 1, under = [255, 255, 255];
    for (const style of parents) {
      opacity *= style.opacity;
      under = paint(style.backgroundColor, opacity, under);
    }
    const over = paint(getComputedStyle(text).color, opacity, under);
    const [least, most] = [luminance(under), luminance(over)].sort((a, b) => a - b);
    return (most + 0.05) / (least + 0.05);
  };
  return selectors.map(contrast);
}
