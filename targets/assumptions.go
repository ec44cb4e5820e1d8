package targets

// What promises rest on, in words that several targets share: for Promise.While.

// RaftTiming is what an election by timeouts takes of the network.
const RaftTiming = "messages travel in less than a fifth of the shortest election timeout"

// VotesAtOnce is what a leader's stay rests on, where pre-vote protects it. Whoever has won its pre-vote holds a higher term
// from then on, and deposes the leader with it, if one was elected meanwhile.
const VotesAtOnce = "whoever wins its pre-vote begins the vote at once"

// RaftElects is what such an election takes to come to an end.
const RaftElects = RaftTiming + ", and the nodes of a majority are all connected to each other"
