/** Tells of itself, and goes back once it is answered. */
const channel = new BroadcastChannel('turn-back');
channel.onmessage = () => history.back();
channel.postMessage('here');
