
command -v kubectl >/dev/null || stop "kubectl is not installed: az aks install-cli does it"
if ! exists aks show --resource-group "$RESOURCE_GROUP" --name "$CLUSTER"; then
  # costs: {{nodes}} nodes {{type}}, their disks of the system, and a load balancer with a public address{{reservation}}
  azure aks create --resource-group "$RESOURCE_GROUP" --name "$CLUSTER" --location "$LOCATION" --tier free \
    --nodepool-name nodepool1 --node-count {{nodes}} --node-vm-size {{type}}{{zones}} \
    --network-plugin azure --network-plugin-mode overlay --enable-managed-identity --no-ssh-key{{options}} \
    --tags "$TAG" --output none
else
  same "the cluster $CLUSTER" "{{planned}}" "$(azure aks show --resource-group "$RESOURCE_GROUP" --name "$CLUSTER" --output tsv \
    --query "join(', ', [join(' ', [to_string(agentPoolProfiles[0].count), 'nodes', agentPoolProfiles[0].vmSize]), \
      agentPoolProfiles[0].availabilityZones[0] && join(' ', ['zone', agentPoolProfiles[0].availabilityZones[0]]), \
      (agentPoolProfiles[0].enableUltraSSD || agentPoolProfiles[0].enableUltraSsd) && 'takes Ultra Disks'{{version}}][?@])")"
fi
wait_for "the cluster $CLUSTER" azure aks show --resource-group "$RESOURCE_GROUP" --name "$CLUSTER" \
  --query provisioningState --output tsv
# The credentials of the cluster, in a file of their own that only you can read; teardown.sh removes it.
azure aks get-credentials --resource-group "$RESOURCE_GROUP" --name "$CLUSTER" --file "$KUBECONFIG_FILE" \
  --overwrite-existing
chmod 600 "$KUBECONFIG_FILE"
