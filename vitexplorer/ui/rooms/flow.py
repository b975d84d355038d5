import gradio as gr
from vitexplorer.ui.rooms.room import Room


class FlowRoom(Room):
    key = "flow"

    def build(self):
        self.m = gr.Markdown()
        return [self.m]

    def fill(self, e, a, l):
        return [str(e.capture.provenance)]
