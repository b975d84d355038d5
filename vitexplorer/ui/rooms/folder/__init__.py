"""The Folder room: start a survey of many images, watch its progress, and open single images in the other rooms."""
