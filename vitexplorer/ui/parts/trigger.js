// Gradio asks a question that had to wait with the data of the one that it waited for. Every kind of question therefore
// keeps one object of data, filled anew each time: what is sent at last is the latest.
{
  const send = trigger, latest = {};
  trigger = (kind, data) => {
    const kept = (latest[kind] ??= {});
    for (const name of Object.keys(kept)) delete kept[name];
    send(kind, Object.assign(kept, data));
  };
}
