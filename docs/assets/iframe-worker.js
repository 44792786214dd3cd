// A page that is opened from a file may start no worker: there the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.inside.document.createElement("script");
      script.src = address;
      this.loaded = new Promise((done) => script.addEventListener("load", done));
      this.inside.document.body.append(script);
    }

    async postMessage(data) {
      await this.loaded;
      this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
    }
  };
}
